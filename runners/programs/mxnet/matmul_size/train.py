"""Matrix products, small and large, on the host and on a device.

A GPU has far more arithmetic units than a processor, and a product of n x n matrices needs 2 x n^3
operations: large products finish sooner there. But each operator has to be handed over first: Python
enqueues it, MXNet's engine passes it to the device's thread, the driver starts a kernel. That takes some ten
microseconds whatever the size, and the host finishes a small product within them. Somewhere between lies
the size from which the device wins.

What is measured: for each of --sizes, --steps products on the host (cpu:0) and as many on --device, each one
waited for before the next is enqueued. The matrices are made where they are multiplied, so copying them
is not in the time. A single product of data that comes from the host has that to pay on top.

What to expect: no transfers; one wait (wait_to_read) a product. On a stand-in the device is the host's own
processor: large products take the same, and small ones differ by what it takes to wake a thread.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, matrices
from shared import measure, verdict


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-matmul-size", __doc__, steps=10, step="products of each size, each time")
    devices.add_pinned_device(parser)
    matrices.add_sizes(parser, "64,256,1024")
    measure.add_repeats(parser)
    return parser


def multiply(x: Any, times: int) -> None:
    """Multiply a matrix with itself, and wait for each product."""
    import mxnet as mx

    for _ in range(times):
        mx.nd.dot(x, x).wait_to_read()


def main() -> None:
    """Multiply, and say who was faster."""
    parser = options()
    args = devices.parse(parser)
    sizes = sorted(set(args.sizes))
    if len(sizes) < 2:
        parser.error(f"--sizes {sizes[0]} is one size, and it takes two to compare small with large")
    import mxnet as mx

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    if device == devices.HOST:
        parser.error("--device cpu:0 is the host, and cannot be compared with itself")
    mx.random.seed(args.seed)
    places = (devices.HOST, device)
    ways = {}
    for size in sizes:
        for place in places:
            x = matrices.make(size, devices.context(place))
            ways[f"{size} on {place}"] = functools.partial(multiply, x, args.steps)
    mx.nd.waitall()
    print(f"products on {devices.HOST} and {device} of sizes {', '.join(map(str, sizes))}", flush=True)
    seconds = measure.in_turn(ways, args.repeats, args.steps)

    gains = {}
    for size in sizes:
        host, there = (seconds[f"{size} on {place}"] for place in places)
        gains[size] = measure.ratio(host, there)
        host_ms, device_ms = (measure.each(series, args.steps).ms() for series in (host, there))
        print(f"{size} x {size}: a product takes {host_ms} on the host, {device_ms} on {device}", flush=True)
    if args.repeats == 1:
        return
    told = ", ".join(f"{gain.ratio()} as fast at {size}" for size, gain in gains.items())
    measured = (
        f"with the host as 1, {device} is {told} (median, lowest and highest of {args.repeats})"
        f"{seconds.beside()}"
    )
    small, large = gains[sizes[0]], gains[sizes[-1]]
    if devices.stand_ins_only([device]):
        verdict.say_not_testable(f"{device} is a stand-in, computed by the host's own processor", measured)
    else:
        wins_large, wins_small = large.share_above(1), small.share_above(1)
        most, few = verdict.MOST, 1 - verdict.MOST
        verdict.decide(
            wins_large >= most and wins_small <= few, wins_large <= few or wins_small >= most, measured
        )


if __name__ == "__main__":
    main()
