"""What it costs to read the loss in every step, against a metric that is kept on the device.

loss.numpy() is a number in Python, so Python waits until the device has computed it. A GPU runs behind
Python: a call of a tf.function returns as soon as its kernels are enqueued, and meanwhile Python prepares the
next step. Reading the loss ends that: the device has nothing to do until Python has seen the number and
enqueued the next step. float(loss), print(loss) and `if loss < best:` read it just as well. --variant says
how the loss is followed:

    numpy       loss.numpy() in each step
    every-n     loss.numpy() in every n-th step; --every says which
    metric      tf.keras.metrics.Mean, updated inside of the step: it lives on the device, and
                result().numpy() at the end is the one time that Python waits

What to do in one's own code: keep a metric, and read it every hundredth step or so.

All of the digits are on the device, so nothing else makes Python wait: what crosses to it in a step is a
number of 4 bytes that says where its batch begins. (A GPU takes that number from the host's memory.)

On a CPU device, and so on a stand-in, a call of a tf.function returns when the function has run to its end.
The loss is there by then, and reading it waits for nothing: the stall shows on a GPU only. The program
measures the call and the read apart and says both.

What to expect in a recording: with numpy a sync in each step, with every-n one in n steps, with metric one.
"""

# mypy: allow-untyped-decorators

import argparse
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, measure, verdict
from tf_shared import devices

LEARNING_RATE = 0.1
VARIANTS = ("numpy", "every-n", "metric")


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-host-sync", __doc__, step="training steps, each time", timed=True)
    devices.add_pinned_device(parser)
    measure.add_variant(parser, VARIANTS, "how the loss is followed")
    parser.add_argument(
        "--every",
        type=devices.positive,
        default=10,
        metavar="N",
        help="steps between two losses that every-n reads (default: 10)",
    )
    measure.add_repeats(parser)
    return parser


class Training:
    """A network with two hidden layers on one device, and the digits beside it."""

    def __init__(self, args: argparse.Namespace, device: str) -> None:
        import tensorflow as tf

        images, labels, self.source = digits.load(args.data)
        self.count = len(images) - digits.held_out(images)
        self.device = device
        self.start = 0
        self.batch = args.batch
        # The first digits once more behind the last ones: a batch is always a single slice.
        rows = np.resize(np.arange(self.count), self.count + args.batch)
        tf.keras.utils.set_random_seed(args.seed)
        with tf.device(device):
            # Of int32 TensorFlow would keep what a tf.function is given on the host: the labels are int64.
            self.images, self.labels = tf.constant(images[rows]), tf.constant(labels[rows], tf.int64)
            self.model = tf.keras.Sequential(
                [
                    tf.keras.Input(images.shape[1:]),
                    tf.keras.layers.Dense(args.width, activation="relu"),
                    tf.keras.layers.Dense(args.width, activation="relu"),
                    tf.keras.layers.Dense(10),
                ]
            )
            self.metric = tf.keras.metrics.Mean()
        jit = args.jit_compile == "on"
        self.plain_step, self.metric_step = (
            self.make_step(jit, with_metric) for with_metric in (False, True)
        )

    def make_step(self, jit: bool, with_metric: bool) -> Callable[[Any], Any]:
        """A training step on the batch at a row; it returns its loss, or gives it to the metric."""
        import tensorflow as tf

        variables = self.model.trainable_variables

        @tf.function(jit_compile=jit)
        def step(start: Any) -> Any:
            with tf.device(self.device):
                # With sizes that are constants XLA compiles it once; with -1 once for each start.
                images = tf.slice(self.images, [start, 0], [self.batch, self.images.shape[1]])
                labels = tf.slice(self.labels, [start], [self.batch])
                with tf.GradientTape() as tape:
                    scores = self.model(images, training=True)
                    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores)
                    loss = tf.reduce_mean(losses)
                for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                    variable.assign_sub(LEARNING_RATE * gradient)
                if not with_metric:
                    return loss
                self.metric.update_state(loss)
                return None

        compiled: Callable[[Any], Any] = step
        return compiled

    def step(self, with_metric: bool = False) -> Any:
        """Train on the next batch, and return its loss, which is on the device."""
        import tensorflow as tf

        self.start = (self.start + self.batch) % self.count
        with tf.device("cpu:0"):
            start = tf.constant(self.start)
        with tf.device(self.device):  # XLA compiles the step as one op, which has to be on the device too
            return (self.metric_step if with_metric else self.plain_step)(start)


def read_each(training: Training, steps: int) -> float:
    """Train, and read the loss of every step; return the last one."""
    for _ in range(steps):
        loss = training.step().numpy()
    return float(loss)


def read_every(training: Training, steps: int, every: int) -> float:
    """Train, and read the loss of every n-th step, and of the last one, which is returned."""
    for step in range(1, steps + 1):
        loss = training.step()
        if step % every == 0 and step < steps:
            loss.numpy()
    return float(loss.numpy())


def keep_metric(training: Training, steps: int) -> float:
    """Train, and read a metric at the end: the mean of the losses."""
    training.metric.reset_state()
    for _ in range(steps):
        training.step(with_metric=True)
    return float(training.metric.result().numpy())


def main() -> None:
    """Train, and say what reading the loss cost."""
    parser = options()
    args = devices.parse(parser)
    device = devices.pinned(parser, args, devices.set_up(parser, args))
    training = Training(args, device)
    functions: dict[str, Callable[[Training, int], float]] = {
        "numpy": read_each,
        "every-n": functools.partial(read_every, every=args.every),
        "metric": keep_metric,
    }
    last: dict[str, float] = {}

    def train(name: str) -> None:
        last[name] = functions[name](training, args.steps)

    ways = {name: functools.partial(train, name) for name in measure.chosen(args, VARIANTS)}
    print(f"model on {device}; {training.count} {training.source}; {', '.join(ways)}", flush=True)
    seconds = measure.in_turn(ways, args.repeats, args.steps)
    for name, times in seconds.items():
        told = measure.each(times, args.steps).ms()
        which = "mean loss" if name == "metric" else "last loss"
        print(f"{name}: {told} a step, {which} {last[name]:.4f}", flush=True)
    if args.repeats > 1:
        judge(args, seconds, split(training, args.steps), device)


def split(training: Training, steps: int) -> tuple[verdict.Repeats, verdict.Repeats]:
    """The seconds that the call of a step takes, and the reading of its loss after that."""
    calls, reads = [], []
    training.step().numpy()  # the first call may trace
    for _ in range(steps):
        start = time.perf_counter()
        loss = training.step()
        returned = time.perf_counter()
        loss.numpy()
        calls.append(returned - start)
        reads.append(time.perf_counter() - returned)
    return verdict.Repeats(tuple(calls)), verdict.Repeats(tuple(reads))


def judge(
    args: argparse.Namespace,
    seconds: measure.Times,
    parts: tuple[verdict.Repeats, verdict.Repeats],
    device: str,
) -> None:
    """Print the verdict."""
    call, read = parts
    told = f"in a step that reads its loss, the call takes {call.ms()} and numpy() {read.ms()}"
    if args.variant != "all":
        verdict.say_not_testable(f"{args.variant} alone has nothing to be compared with", told)
        return
    each, seldom = (measure.ratio(seconds[name], seconds["metric"]) for name in ("numpy", "every-n"))
    measured = (
        f"a step took {each.ratio()} as long with loss.numpy() in each, and {seldom.ratio()} with one in "
        f"{args.every}, as with a metric on {device} (median, lowest and highest of {args.repeats}). "
        f"{told[:1].upper()}{told[1:]}{seconds.beside()}"
    )
    if device.startswith("cpu:"):
        why = f"a call on {device}, a CPU device, returns when it is done, so there is no stall to measure"
        verdict.say_not_testable(why, measured)
    else:
        verdict.say_longer((each,), measured)


if __name__ == "__main__":
    main()
