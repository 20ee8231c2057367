"""copyto against as_in_context: which of them makes a new array, on another device and on the same one.

Both bring an array to a context. They differ where it is there already:

    x.copyto(C)           always a new array with memory of its own, on the same context too
    x.as_in_context(C)    x itself where x is on C already, else a new array, as copyto
    x.as_in_ctx(C)        the same for the arrays of mx.np, which is the only place that has it
    x.copyto(y)           makes nothing: it fills the array y, wherever that is, and returns it

So as_in_context is what to write before a computation that wants its input on a device: it costs nothing
where the input is there. What it returns may be x itself, though: writing into it in place writes into x.
copyto is what to write for a copy that may be changed. The program changes one of each and looks at x.

What to expect: with devices A and B, each step makes four copies from A to B of size x size x 4 bytes, one
for each way above, and one copy from A to A, by copyto. as_in_context and as_in_ctx to A make none. At the
end there is one more copy from A to A, the one that is changed.

Between stand-ins these are copies in the host's memory: real ones, that cross no bus. How long a copy takes
means something between a GPU and the host, or two GPUs, only.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, matrices
from shared import progress, verdict


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-copy", __doc__, step="times that each copy is made")
    matrices.add_size(parser, 256)
    return parser


def main() -> None:
    """Copy, and say what was new."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx

    chosen = devices.set_up(parser, args, least=2, most=2)
    here, there = (devices.context(name) for name in chosen)
    mx.random.seed(args.seed)
    x = matrices.make(args.size, here)
    x_np = x.as_np_ndarray()  # the same memory, seen as an array of mx.np
    filled = mx.nd.zeros(x.shape, ctx=there)
    print(f"x is on {chosen[0]}, {args.size} x {args.size} x 4 bytes", flush=True)

    outcomes: Counter[tuple[str, str]] = Counter()

    def count(how: str, result: Any, given: Any) -> None:
        new = "the array given" if result is given else "a new array"
        outcomes[how, f"{new} on {devices.name_of(result.context)}"] += 1

    watch = progress.Progress(args.steps, 10)
    for step in range(1, args.steps + 1):
        count("copyto, other device", x.copyto(there), x)
        count("as_in_context, other device", x.as_in_context(there), x)
        count("as_in_ctx, other device", x_np.as_in_ctx(there), x_np)
        count("copyto(array), other device", x.copyto(filled), filled)
        count("copyto, same device", x.copyto(here), x)
        count("as_in_context, same device", x.as_in_context(here), x)
        count("as_in_ctx, same device", x_np.as_in_ctx(here), x_np)
        if watch.due(step):
            mx.nd.waitall()
            watch.report(step)
    for (how, outcome), times in outcomes.items():
        print(f"{how}: {outcome}, {times} times")

    before = x.sum().asscalar()
    changed = {}
    for how, copy in {"copyto": x.copyto, "as_in_context": x.as_in_context}.items():
        result = copy(here)
        result += 1
        changed[how] = bool(x.sum().asscalar() != before)
    print(
        f"adding 1 to what x.copyto({here}) returned changed x: {changed['copyto']}; "
        f"to what x.as_in_context({here}) returned: {changed['as_in_context']}"
    )
    judge(outcomes, changed, chosen, args.steps)


def judge(
    outcomes: Counter[tuple[str, str]], changed: dict[str, bool], chosen: list[str], steps: int
) -> None:
    """Print one verdict for copyto, and one for as_in_context and as_in_ctx."""
    here, there = chosen
    new_here, new_there, same = (
        f"a new array on {here}",
        f"a new array on {there}",
        f"the array given on {here}",
    )

    copyto = outcomes["copyto, same device", new_here], outcomes["copyto, other device", new_there]
    filled = outcomes["copyto(array), other device", f"the array given on {there}"]
    verdict.say(
        copyto == (steps, steps) and not changed["copyto"],
        f"copyto(context) made a new array {copyto[0]} of {steps} times on the same device and {copyto[1]} "
        f"of {steps} on the other, and changing it left x as it was; only copyto(array) makes none: "
        f"it returned the array given {filled} of {steps} times",
    )
    names = "as_in_context", "as_in_ctx"
    kept = [outcomes[f"{name}, same device", same] for name in names]
    made = [outcomes[f"{name}, other device", new_there] for name in names]
    verdict.say(
        kept == made == [steps, steps] and changed["as_in_context"],
        f"as_in_context and as_in_ctx returned the same array {kept[0]} and {kept[1]} of {steps} times on "
        f"the same device, and changing it changed x; to the other device they made a new one {made[0]} and "
        f"{made[1]} times",
    )


if __name__ == "__main__":
    main()
