"""The loss of each minibatch: fetched when it is known, or kept on the device and fetched at the end.

Training is asynchronous: in each step Python enqueues forward, backward and update, and goes on to the next
minibatch while the device computes. To look at the loss Python needs its value:

    asscalar    loss.asscalar() in every step: a number, of 4 bytes
    asnumpy     loss.asnumpy() in every step: the same 4 bytes, in an array of numpy's
    log         the losses stay on the device, and are fetched together after the last step

The first two stop Python in each step until the device has computed the loss. That stall has two parts:
the wait until the value is there, which is as long as what is enqueued before it, and the copy of it, which
is a matter of bytes. The program takes them apart: loss.wait_to_read() is the wait, and asscalar() after
it is the copy. While Python stands still it enqueues nothing, and the device runs dry: that costs time.

"The GIL makes everything wait" is said of such calls too. Python's global lock lets one thread run at a
time. But MXNet's library is called through ctypes, which lets the lock go until the call returns: only the
thread that asked should wait. The program tests it. A thread counts as fast as it can, and what it counts
while asnumpy() waits for long products is compared with what it counts while Python sleeps. Where the
device is a stand-in the two share the processor's cores, so the thread may well be slower; but it runs.

What to expect: with asscalar and asnumpy a sync in every step, with log one. The images and the labels of
each step go from cpu:0 to the device. A wait is a wait on stand-ins too; only the copy crosses no bus there.
"""

from __future__ import annotations

import argparse
import functools
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from mx_shared import devices
from shared import digits, measure, verdict

LEARNING_RATE = 0.05
VARIANTS = ("asscalar", "asnumpy", "log")
LONG_WAIT_S = 0.05
"""How long a wait must be for what another thread does meanwhile to be counted."""
STOPPED = 0.05
"""A thread that is slower than this share of its speed is called waiting."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("mx-host-sync", __doc__, step="training steps, each time")
    devices.add_network(parser)
    devices.add_pinned_device(parser)
    measure.add_variant(parser, VARIANTS, "how the loss is fetched")
    measure.add_repeats(parser)
    return parser


class Training:
    """A network with two hidden layers, its trainer, and the digits."""

    def __init__(self, args: argparse.Namespace, context: Any) -> None:
        import mxnet as mx
        from mxnet import gluon

        self.images, self.labels, self.source = digits.load(args.data)
        self.batch = args.batch
        self.context = context
        self.rng = np.random.default_rng(args.seed)
        mx.random.seed(args.seed)
        self.net = gluon.nn.HybridSequential()
        for units in (args.width, args.width):
            self.net.add(gluon.nn.Dense(units, activation="relu"))
        self.net.add(gluon.nn.Dense(10))
        self.net.initialize(mx.init.Xavier(), ctx=context)
        self.net.hybridize()
        self.loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": LEARNING_RATE})

    def step(self) -> Any:
        """Enqueue one step, and return the mean loss of its images, on the device."""
        import mxnet as mx

        rows = self.rng.integers(len(self.images), size=self.batch)
        images = mx.nd.array(self.images[rows], ctx=self.context)
        labels = mx.nd.array(self.labels[rows], ctx=self.context)
        with mx.autograd.record():
            losses = self.loss_of(self.net(images), labels)
        losses.backward()
        self.trainer.step(self.batch)
        return losses.mean()


def fetch_scalars(training: Training, steps: int) -> list[float]:
    """Train, and fetch the loss of every step as a number."""
    return [float(training.step().asscalar()) for _ in range(steps)]


def fetch_arrays(training: Training, steps: int) -> list[float]:
    """Train, and fetch the loss of every step as an array."""
    return [float(training.step().asnumpy()[0]) for _ in range(steps)]


def keep_log(training: Training, steps: int) -> list[float]:
    """Train, keep the losses on the device, and fetch them at the end."""
    import mxnet as mx

    log = [training.step() for _ in range(steps)]
    return [float(loss) for loss in mx.nd.concat(*log, dim=0).asnumpy()]


def main() -> None:
    """Train, and say what fetching the loss cost."""
    parser = options()
    args = devices.parse(parser)
    device = devices.pinned(parser, args, devices.set_up(parser, args))
    training = Training(args, devices.context(device))
    functions = dict(zip(VARIANTS, (fetch_scalars, fetch_arrays, keep_log)))
    chosen = measure.chosen(args, VARIANTS)
    losses: dict[str, list[float]] = {name: [] for name in chosen}

    def train(name: str) -> None:
        losses[name] += functions[name](training, args.steps)

    ways: dict[str, Callable[[], object]] = {name: functools.partial(train, name) for name in chosen}
    print(f"model on {device}; {len(training.images)} {training.source}; {', '.join(chosen)}", flush=True)
    crowded = measure.crowded() if devices.stand_ins_only([device]) else None
    seconds = measure.in_turn(ways, args.repeats, args.steps)
    for name, times in seconds.items():
        told = measure.each(times, args.steps).ms()
        print(f"{name}: {told} a step, last loss {losses[name][-1]:.4f}", flush=True)
    if args.repeats == 1:
        return
    judge_stall(args, seconds, split_stall(training, args.steps), device, crowded)
    judge_lock(count_meanwhile(devices.context(device), args.repeats))


def split_stall(training: Training, steps: int) -> tuple[verdict.Repeats, verdict.Repeats]:
    """The seconds a step that Python waited for the loss, and that its copy took then."""
    waits, copies = [], []
    for _ in range(steps):
        loss = training.step()
        start = time.perf_counter()
        loss.wait_to_read()
        there = time.perf_counter()
        loss.asscalar()
        waits.append(there - start)
        copies.append(time.perf_counter() - there)
    return verdict.Repeats(tuple(waits)), verdict.Repeats(tuple(copies))


def judge_stall(
    args: argparse.Namespace,
    seconds: measure.Times,
    stall: tuple[verdict.Repeats, verdict.Repeats],
    device: str,
    crowded: str | None,
) -> None:
    """Print whether fetching the loss in each step makes training slower."""
    wait, copy = stall
    bus = " (which crosses no bus, the device is a stand-in)" if devices.stand_ins_only([device]) else ""
    parts = f"the stall of asscalar() in a step is {wait.ms()} of waiting and {copy.ms()} of copying{bus}"
    if args.variant != "all":
        verdict.say_not_testable(f"{args.variant} alone has nothing to be compared with", parts)
        return
    scalars, arrays = (measure.ratio(seconds[name], seconds["log"]) for name in ("asscalar", "asnumpy"))
    verdict.say_longer(
        (scalars, arrays),
        f"a step that fetches its loss took {scalars.ratio()} as long with asscalar(), and {arrays.ratio()} "
        f"with asnumpy(), as one that keeps it on {device} (median, lowest and highest of {args.repeats}). "
        f"{parts[:1].upper()}{parts[1:]}{seconds.beside()}",
        crowded,
    )


class Counter(threading.Thread):
    """A thread that counts as fast as it can."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.count = 0
        self.going = True

    def run(self) -> None:
        """Count until told to stop."""
        while self.going:
            self.count += 1

    def speed_during(self, act: Callable[[], object]) -> tuple[float, float]:
        """How many counts a second there are while `act` runs, and the seconds that it runs."""
        count, start = self.count, time.perf_counter()
        act()
        seconds = time.perf_counter() - start
        return (self.count - count) / seconds, seconds


def enqueue_products(context: Any, products: int) -> Any:
    """Enqueue a row of long products, and return the last."""
    import mxnet as mx

    x = mx.nd.ones((1024, 1024), ctx=context) / 1024
    product = x
    for _ in range(products):
        product = mx.nd.dot(product, x)
    return product


def count_meanwhile(context: Any, repeats: int) -> verdict.Repeats:
    """The speed of a counting thread while asnumpy() waits, as shares of its speed while Python sleeps."""
    counter = Counter()
    counter.start()
    products = 1
    shares: list[float] = []
    while len(shares) < repeats:
        result = enqueue_products(context, products)
        speed, seconds = counter.speed_during(result.asnumpy)
        if seconds < LONG_WAIT_S:
            products *= 2
            continue
        alone, _ = counter.speed_during(functools.partial(time.sleep, seconds))
        shares.append(speed / alone)
    counter.going = False
    counter.join()
    return verdict.Repeats(tuple(shares))


def judge_lock(share: verdict.Repeats) -> None:
    """Print whether other Python threads wait too while one waits for the device."""
    went_on = share.share_above(STOPPED)
    verdict.decide(
        went_on <= 1 - verdict.MOST,
        went_on >= verdict.MOST,
        f"while asnumpy() waited, another Python thread ran at {share.told('%', 100)} of the speed it has "
        "while Python sleeps",
    )


if __name__ == "__main__":
    main()
