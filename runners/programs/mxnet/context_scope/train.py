"""The current context: `with mx.gpu(i):` against a bare `mx.gpu(i)`, and against ctx=.

Arrays that are made without a context go to the current one, which is cpu(0) to begin with. Three ways to
write a device's name look alike and are not:

    mx.gpu(1)                      a bare name, thrown away at once: changes nothing
    with mx.gpu(1): ...            the current context inside the block, and only there
    mx.nd.ones(3, ctx=mx.gpu(1))   this one array; the current context stays what it is

The bare line raises nothing and warns of nothing, so it is easily taken for `torch.cuda.set_device(1)` and
the like. A block inside a block wins while it is open, and ctx= wins over both.

The current context is for making arrays only. An operator that takes arrays runs where they are: x * 2 in a
block of another context stays on x's, and so does zeros_like(x). And it is the thread's own: a thread that is
started inside the block begins with cpu(0) again.

What to expect: each step makes an array in every one of these ways. On stand-ins this can be tested as on
GPUs, for the current context is cpu(0) there, and --device another one. All that crosses is what nd.array is
given: Python's numbers, 16 bytes, go from cpu:0 to the device.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices
from shared import progress, verdict

SHAPE = (2, 3)


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-context-scope", __doc__, step="times that each array is made")
    devices.add_pinned_device(parser)
    return parser


def make_arrays(context: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays that are to be on `context`, and arrays that are to be on cpu(0) all the same."""
    import mxnet as mx

    there, default = {}, {}
    mx.Context(context)  # a bare name, as mx.gpu(1) is one
    default["after the bare name"] = mx.nd.ones(SHAPE)
    with context:
        there["nd.ones in the block"] = mx.nd.ones(SHAPE)
        there["nd.array in the block"] = mx.nd.array([[1, 2], [3, 4]])
        there["nd.random in the block"] = mx.nd.random.uniform(shape=SHAPE)
        there["mx.np.ones in the block"] = mx.np.ones(SHAPE)
        default["x, with ctx=cpu(0) in the block"] = x = mx.nd.ones(SHAPE, ctx=mx.cpu())
        default["x * 2 in the block"] = x * 2
        default["in a thread of the block"] = made_in_thread()
        with mx.cpu():
            default["in a block of cpu(0) in the block"] = mx.nd.ones(SHAPE)
    default["after the block"] = mx.nd.ones(SHAPE)
    there["nd.ones with ctx="] = mx.nd.ones(SHAPE, ctx=context)
    default["after ctx="] = mx.nd.ones(SHAPE)
    return there, default


def made_in_thread() -> Any:
    """An array that a new thread makes without a context."""
    import mxnet as mx

    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(mx.nd.ones(SHAPE)))
    thread.start()
    thread.join()
    return made[0]


def main() -> None:
    """Make arrays, and say where they are."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    context = devices.context(device)
    mx.random.seed(args.seed)
    print(f"current context {mx.current_context()}, device {context}", flush=True)

    right, made = {device: 0, devices.HOST: 0}, {device: 0, devices.HOST: 0}
    where: dict[str, Counter[str]] = {}
    watch = progress.Progress(args.steps, 10)
    for step in range(1, args.steps + 1):
        for expected, arrays in zip((device, devices.HOST), make_arrays(context)):
            for how, array in arrays.items():
                place = devices.name_of(array.context)
                where.setdefault(how, Counter())[place] += 1
                made[expected] += 1
                right[expected] += place == expected
        if watch.due(step):
            watch.report(step)

    for how, places in where.items():
        print(f"{how}: {', '.join(f'{count} on {place}' for place, count in places.items())}")
    measured = (
        f"of the arrays made in the with-block, or with ctx=, {right[device]} of {made[device]} are on "
        f"{device}; of those made after a bare name, outside the block, in another thread, or with cpu(0) "
        f"named inside, {right[devices.HOST]} of {made[devices.HOST]} are on cpu:0"
    )
    if device == devices.HOST:
        on_host = sum(places[devices.HOST] for places in where.values())
        why = "the device is cpu:0, which is the current context to begin with"
        verdict.say_not_testable(why, f"{on_host} of {args.steps * len(where)} arrays are on cpu:0")
    else:
        verdict.say(right == made, measured)


if __name__ == "__main__":
    main()
