"""A value of each of many products: fetched each time, or kept on the device and fetched once.

The program multiplies 100 x 100 matrices, M = A B, 1000 times, and logs tr(M M^T), the square of M's
Frobenius norm. That is one number a product, 4 bytes. What it costs depends on when Python asks for it:

    fetch-each    log.append(value.asscalar()) after each product. asscalar() returns a number, so Python
                  waits until the device has computed it; only then is the next product enqueued, and
                  meanwhile the device has nothing to do.
    asnumpy-log   log.append(value) keeps the arrays, each still on the device; at the end they are joined
                  there and fetched with one asnumpy(): 4000 bytes at once. Until then Python enqueues on,
                  and the device works without a pause.
    assign-log    log[i] = value, into an array on the device that is fetched at the end. No wait either,
                  but a slice assignment is more operators, and MXNet's Python takes long for it.
    fetch-once    only the last value is fetched.

What to expect: with fetch-each as many waits as products (asscalar, 4 bytes each), else one.

Waiting is as real on a stand-in as on a GPU, so the stall can be measured on both: MXNet computes in
threads of its own, and Python's waits are pauses of these. What a GPU adds is that each of the small copies
crosses a bus; on a stand-in they cost next to nothing.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices, matrices
from shared import measure, verdict

VARIANTS = ("fetch-each", "asnumpy-log", "assign-log", "fetch-once")


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-log-norm", __doc__, steps=1000, step="products of a series, each time")
    devices.add_pinned_device(parser)
    measure.add_variant(parser, VARIANTS, "how the values are fetched")
    matrices.add_size(parser, 100)
    measure.add_repeats(parser)
    return parser


def norm(a: Any, b: Any) -> Any:
    """tr(M M^T) of M = A B, which is the sum of the squares in M; an array of one number."""
    import mxnet as mx

    return mx.nd.sum(mx.nd.square(mx.nd.dot(a, b)))


def fetch_each(a: Any, b: Any, products: int) -> float:
    """Fetch the value of each product; return the last one."""
    log = []
    for _ in range(products):
        log.append(norm(a, b).asscalar())
    return float(log[-1])


def asnumpy_log(a: Any, b: Any, products: int) -> float:
    """Keep the values on the device, and fetch them together; return the last one."""
    import mxnet as mx

    log = []
    for _ in range(products):
        log.append(norm(a, b))
    return float(mx.nd.concat(*log, dim=0).asnumpy()[-1])


def assign_log(a: Any, b: Any, products: int) -> float:
    """Write the values into an array on the device, and fetch that; return the last one."""
    import mxnet as mx

    log = mx.nd.zeros(products, ctx=a.context)
    for index in range(products):
        log[index] = norm(a, b)
    return float(log.asnumpy()[-1])


def fetch_once(a: Any, b: Any, products: int) -> float:
    """Fetch the last value only."""
    for _ in range(products):
        value = norm(a, b)
    return float(value.asscalar())


def main() -> None:
    """Multiply, and say what fetching cost."""
    parser = options()
    args = devices.parse(parser)
    import mxnet as mx

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    context = devices.context(device)
    mx.random.seed(args.seed)
    a, b = (matrices.make(args.size, context) for _ in range(2))
    mx.nd.waitall()
    functions = dict(zip(VARIANTS, (fetch_each, asnumpy_log, assign_log, fetch_once)))
    chosen = measure.chosen(args, VARIANTS)
    ways: dict[str, Callable[[], object]] = {
        name: functools.partial(functions[name], a, b, args.steps) for name in chosen
    }
    print(f"{args.steps} products of {args.size} x {args.size} on {device}: {', '.join(chosen)}", flush=True)
    crowded = measure.crowded() if devices.stand_ins_only([device]) else None
    seconds = measure.in_turn(ways, args.repeats, args.steps)
    for name, times in seconds.items():
        print(f"{name}: {times.ms()}", flush=True)
    if args.repeats > 1:
        judge(args, seconds, device, crowded)


def judge(args: argparse.Namespace, seconds: measure.Times, device: str, crowded: str | None) -> None:
    """Print the verdict."""
    if args.variant != "all":
        why = f"{args.variant} alone has nothing to be compared with"
        verdict.say_not_testable(why, f"{args.steps} products took {seconds[args.variant].ms()}")
        return
    each = seconds["fetch-each"]
    to_log, to_assigned, to_once = (measure.ratio(each, seconds[name]) for name in VARIANTS[1:])
    bus = "; no bus was crossed, the device is a stand-in" if devices.stand_ins_only([device]) else ""
    verdict.say_longer(
        (to_log, to_once),
        f"fetching each of {args.steps} values took {to_log.ratio()} as long as keeping them on {device} to "
        f"the end, {to_once.ratio()} as long as fetching the last one only, and {to_assigned.ratio()} as "
        f"long as log[i] = value (median, lowest and highest of {args.repeats}){bus}{seconds.beside()}",
        crowded,
    )


if __name__ == "__main__":
    main()
