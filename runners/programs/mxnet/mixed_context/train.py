"""An operator whose inputs are on two contexts: x + y with x on one and y on the other.

Tutorials say: all inputs must be on one device, and MXNet does not copy for you, so x + y raises. On a GPU
and the host it does:

    MXNetError: Operator broadcast_add require all inputs live on the same context. But the first argument
    is on gpu(0) while the 2-th argument is on cpu(0)

But what MXNet compares is the kind of device, not its number. Two CPU contexts are of one kind, and so
nothing is raised between cpu(1) and cpu(2): the operator runs on the first input's context and reads the
others where they are. The values are right, since all of them are the host's memory. The result's context
is an accident of the order: x + y and y + x differ in it, and x += y stays on x's. This is how a program
that was tested with CPU contexts fails on GPUs. Going by the source, two GPUs pass that check as well; what
happens then has to be seen on a machine with two.

A hybridized block does compare numbers: it raises ValueError for cpu(1) and cpu(2) too.

What to expect: no copy at all. On stand-ins each step has operators that read an input on another
context; on a GPU and the host (--devices gpu:0,cpu:0) each of them raises.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, matrices
from shared import progress, verdict


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-mixed-context", __doc__, step="times that each operator is tried")
    matrices.add_size(parser, 64)
    return parser


def add_in_place(x: Any, y: Any) -> Any:
    """x, with y added to it."""
    x = x.copy()
    x += y
    return x


def hybridized_add() -> Any:
    """A hybridized block that adds its two inputs."""
    from mxnet import gluon

    add = gluon.nn.HybridLambda(lambda functions, x, y: functions.broadcast_add(x, y))
    add.hybridize()
    return add


def main() -> None:
    """Try the operators, and say where they ran or what they raised."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx

    chosen = devices.set_up(parser, args, least=2, most=2)
    mx.random.seed(args.seed)
    x, y = (matrices.make(args.size, context) for context in map(devices.context, chosen))
    right = x.asnumpy() + y.asnumpy()
    print(f"x is on {chosen[0]}, y on {chosen[1]}", flush=True)

    block = hybridized_add()
    operators: dict[str, Callable[[], Any]] = {
        "x + y": lambda: x + y,
        "y + x": lambda: y + x,
        "x += y": lambda: add_in_place(x, y),
        "dot(x, y)": lambda: mx.nd.dot(x, y),
        "concat(x, y)": lambda: mx.nd.concat(x, y, dim=0),
        "x + y in mx.np": lambda: x.as_np_ndarray() + y.as_np_ndarray(),
        "x + y in a hybridized block": lambda: block(x, y),
    }
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in operators}
    results: dict[str, Any] = {}
    watch = progress.Progress(args.steps, 10)
    for step in range(1, args.steps + 1):
        for name, operator in operators.items():
            try:
                result = operator()
                result.wait_to_read()
            except (mx.MXNetError, ValueError) as error:
                outcomes[name][f"raised {type(error).__name__}"] += 1
            else:
                outcomes[name][f"ran on {devices.name_of(result.context)}"] += 1
                results[name] = result
        if watch.due(step):
            watch.report(step)
    for name, counts in outcomes.items():
        print(f"{name}: {', '.join(f'{outcome} {times} times' for outcome, times in counts.items())}")
    wrong = [
        name for name in ("x + y", "y + x") if name in results and (results[name].asnumpy() != right).any()
    ]
    judge(outcomes, chosen, args.steps, "wrong" if wrong else "right")


def judge(outcomes: dict[str, Counter[str]], chosen: list[str], steps: int, values: str) -> None:
    """Print whether mixing raised, and whether CPU contexts let it pass on the first input's."""
    eager = [name for name in outcomes if "hybridized" not in name]
    hybridized = outcomes["x + y in a hybridized block"]["raised ValueError"]
    first, second = chosen
    if not devices.stand_ins_only(chosen):
        raised = sum(outcomes[name]["raised MXNetError"] for name in eager)
        verdict.say(
            raised == steps * len(eager),
            f"with x on {first} and y on {second}, {raised} of {steps * len(eager)} operators raised "
            f"MXNetError, and {hybridized} of {steps} calls of a hybridized block raised ValueError",
        )
        return
    verdict.say_not_testable(
        f"that x + y raises takes a GPU, and {first} and {second} are CPU contexts",
        f"the hybridized block raised ValueError all the same, {hybridized} of {steps} times",
    )
    ran_on = dict.fromkeys(eager, first) | {"y + x": second}
    ran = {name: outcomes[name][f"ran on {place}"] for name, place in ran_on.items()}
    others = [name for name in eager if name not in ("x + y", "y + x")]
    verdict.say(
        all(times == steps for times in ran.values()),
        f"on CPU contexts x + y ran on {first} {ran['x + y']} of {steps} times and y + x on {second} "
        f"{ran['y + x']} of {steps}, the first input's each, with {values} values; so did "
        f"{', '.join(others)}, {sum(ran[name] for name in others)} of {steps * len(others)} times on {first}",
    )


if __name__ == "__main__":
    main()
