"""Two series of matrix products: at once on two devices, and one after the other on one.

MXNet runs operators asynchronously: nd.dot() only enqueues the product and returns, and each context has
threads of its own that work off its queue. To compute on two devices at once is to enqueue on both before
waiting for either, and no more. With two equal devices the time should halve: linear scaling.

What spoils it is a wait too early. `print(x)`, x.asnumpy() or x.wait_to_read() between the two series make
Python stand still until the first device is done, before the second has been given anything.

With CPU contexts there is one more trap: all of them share a pool of temporary memory, 4 pieces by default,
and dot needs one for each product. Queue more than that on one context, and the products of the other wait
for a piece that comes after all of them. The program enqueues on both in turn, and asks for
MXNET_CPU_TEMP_COPY=64 pieces beside.

What is measured, for each of --sizes: 2 x --steps products on the first device, and --steps on each of two.
What to expect: no transfers, and one wait a device at the end.

On stand-ins the two devices are threads of one processor. They may well take half the time, where two cores
are free, but that says how many cores there are, and nothing of two GPUs.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, matrices
from shared import measure, verdict

NEARLY_TWO = 1.8


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-two-devices", __doc__, steps=40, step="products of a series, each time")
    matrices.add_sizes(parser, "256,512")
    measure.add_repeats(parser)
    return parser


def in_sequence(x: Any, times: int) -> None:
    """Two series on the device of `x`."""
    import mxnet as mx

    for _ in range(2 * times):
        product = mx.nd.dot(x, x)
    product.wait_to_read()


def at_once(x: Any, y: Any, times: int) -> None:
    """One series on the device of `x`, and one on the device of `y`."""
    import mxnet as mx

    for _ in range(times):
        product = mx.nd.dot(x, x)
        other = mx.nd.dot(y, y)
    product.wait_to_read()
    other.wait_to_read()


def main() -> None:
    """Multiply, and say how much faster two devices are."""
    parser = options()
    args = devices.parse(parser)
    os.environ.setdefault("MXNET_CPU_TEMP_COPY", "64")  # read when MXNet is imported
    import mxnet as mx

    chosen = devices.set_up(parser, args, least=2, most=2)
    sizes = sorted(set(args.sizes))
    mx.random.seed(args.seed)
    ways = {}
    for size in sizes:
        x, y = (matrices.make(size, context) for context in map(devices.context, chosen))
        ways[f"{size} in sequence"] = functools.partial(in_sequence, x, args.steps)
        ways[f"{size} at once"] = functools.partial(at_once, x, y, args.steps)
    mx.nd.waitall()
    print(f"2 x {args.steps} products on {chosen[0]}, then on {' and '.join(chosen)} at once", flush=True)
    seconds = measure.in_turn(ways, args.repeats, 2 * args.steps)

    gains = {}
    for size in sizes:
        alone, both = seconds[f"{size} in sequence"], seconds[f"{size} at once"]
        gains[size] = measure.ratio(alone, both)
        times = f"{alone.ms()} in sequence, {both.ms()} at once"
        print(f"{size} x {size}: {times}", flush=True)
    if args.repeats == 1:
        return
    told = ", ".join(f"{gain.ratio()} as fast at {size}" for size, gain in gains.items())
    measured = (
        f"with one device as 1, two are {told} (median, lowest and highest of {args.repeats})"
        f"{seconds.beside()}"
    )
    names = " and ".join(chosen)
    if devices.stand_ins_only(chosen):
        cores = len(os.sched_getaffinity(0))
        why = f"{names} are threads of one processor, which has {cores} cores for this process"
        verdict.say_not_testable(why, measured)
    elif any(name.startswith("cpu:") for name in chosen):
        verdict.say_not_testable(f"{names} are not two equal devices", measured)
    else:
        verdict.say(gains[sizes[-1]].median >= NEARLY_TWO, measured)


if __name__ == "__main__":
    main()
