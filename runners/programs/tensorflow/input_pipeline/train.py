"""How a batch comes to the device: numpy arrays, tf.data, and tf.data with prefetch_to_device.

The network is on one device and the digits are on the host, so each batch has to cross: its images, batch x
pixels x 4 bytes, and its labels, batch x 8 bytes. --pipeline says who sends them, and when:

    numpy               Python picks the rows and calls the training step with numpy arrays. TensorFlow makes
                        tensors of them on the device, one after the other, and only then calls the step.
    tf-data             tf.data's own threads pick and pack the rows while the step before is still computed.
                        The batch is a pair of tensors on the host; they cross when the step is called.
    prefetch-to-device  the same with tf.data.experimental.prefetch_to_device at the end: the pipeline copies
                        the next batch to the device by itself, and the step finds it there.
    resident            one batch that is on the device already, again and again: what a step takes without
                        any input. It trains on nothing else; it is there to be compared with.

What to expect: with numpy two uploads a step, at the line that calls the step; with tf-data two transfers, to
the lines of the step that use them. With prefetch-to-device there is none: the copies are made inside the
pipeline, ahead of time, where the recorder does not see them. The stall is what a step takes beyond one of
resident.

The labels are int64 for a reason: what a tf.function is given as int32 TensorFlow keeps on the host, and
labels of that type would cross in each step even if they had been prefetched to the device.

What to do in one's own code: tf.data with prefetch_to_device as its last transformation; Keras' fit and the
strategies do the like by themselves when they are given a tf.data.Dataset.

On stand-ins the copies cross no bus, and what the pipeline's threads do takes its time from the step: both
are computed by the host's processor. Uploads can be counted there; the stall shows on a GPU only.
"""

# mypy: allow-untyped-decorators

import argparse
import functools
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, measure, verdict
from tf_shared import devices

LEARNING_RATE = 0.1
PIPELINES = ("numpy", "tf-data", "prefetch-to-device", "resident")
AHEAD = 2
"""Batches that the pipeline keeps ready on the device."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-input-pipeline", __doc__, step="training steps, each time", timed=True)
    devices.add_pinned_device(parser)
    parser.add_argument(
        "--pipeline",
        choices=("all", *PIPELINES),
        default="all",
        help="how batches come to the device; all: compare these ways (default: all)",
    )
    measure.add_repeats(parser)
    return parser


def make_step(args: argparse.Namespace, device: str, pixels: int) -> Callable[[Any, Any], Any]:
    """A training step of a network on the device; it returns its loss, which is there too."""
    import tensorflow as tf

    units = [pixels, args.width, args.width, 10]

    @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
    def first_weights() -> Any:
        return [
            (tf.random.stateless_normal([n, m], [args.seed, layer]) * (2 / n) ** 0.5, tf.zeros(m))
            for layer, (n, m) in enumerate(itertools.pairwise(units))
        ]

    with tf.device(device):
        layers = [(tf.Variable(kernel), tf.Variable(bias)) for kernel, bias in first_weights()]
    variables = [variable for layer in layers for variable in layer]

    @tf.function(jit_compile=args.jit_compile == "on")
    def step(images: Any, labels: Any) -> Any:
        with tf.device(device):
            with tf.GradientTape() as tape:
                x = images
                for kernel, bias in layers[:-1]:
                    x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))
                scores = tf.nn.bias_add(tf.matmul(x, layers[-1][0]), layers[-1][1])
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
            for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
                variable.assign_sub(LEARNING_RATE * gradient)
            return loss

    compiled: Callable[[Any, Any], Any] = step
    return compiled


def main() -> None:
    """Train, and say what the batches cost."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    images, labels = images[:train], labels[:train].astype(np.int64)
    tf.keras.utils.set_random_seed(args.seed)
    step = make_step(args, device, images.shape[1])
    rng = np.random.default_rng(args.seed)

    def picked() -> Iterator[Any]:
        while True:
            rows = rng.integers(train, size=args.batch)
            yield images[rows], labels[rows]

    with tf.device("cpu:0"):
        dataset = tf.data.Dataset.from_tensor_slices((images, labels))
        dataset = dataset.shuffle(train, seed=args.seed).repeat().batch(args.batch, drop_remainder=True)
        prefetched = dataset.apply(tf.data.experimental.prefetch_to_device(device, AHEAD))
    with tf.device(device):
        resident = tf.constant(images[: args.batch]), tf.constant(labels[: args.batch])
    batches: dict[str, Callable[[], Iterator[Any]]] = {
        "numpy": picked,
        "tf-data": lambda: iter(dataset.prefetch(AHEAD)),
        "prefetch-to-device": lambda: iter(prefetched),
        "resident": lambda: itertools.repeat(resident),
    }
    last: dict[str, float] = {}

    def train_with(name: str, source: Iterator[Any]) -> None:
        for _ in range(args.steps):
            batch = next(source)
            with tf.device(device):  # to which numpy arrays go
                loss = step(*batch)
        last[name] = float(loss)

    names = PIPELINES if args.pipeline == "all" else (args.pipeline,)
    ways = {name: functools.partial(train_with, name, batches[name]()) for name in names}
    print(f"model on {device}; {train} {source}; {', '.join(ways)}", flush=True)
    seconds = measure.in_turn(ways, args.repeats, args.steps)
    for name, times in seconds.items():
        told = measure.each(times, args.steps).ms()
        print(f"{name}: {told} a step, last loss {last[name]:.4f}", flush=True)
    if args.repeats > 1:
        judge(args, seconds, device)


def judge(args: argparse.Namespace, seconds: measure.Times, device: str) -> None:
    """Print the verdict."""
    if args.pipeline != "all":
        why = f"{args.pipeline} alone has nothing to be compared with"
        told = measure.each(seconds[args.pipeline], args.steps).ms()
        verdict.say_not_testable(why, f"a step takes {told}")
        return
    stalls = {name: measure.ratio(seconds[name], seconds["resident"]) for name in PIPELINES[:-1]}
    told = ", ".join(f"{ratio.ratio()} with {name}" for name, ratio in stalls.items())
    measured = (
        f"with a batch that is on {device} already as 1, a step takes {told} (median, lowest and highest of "
        f"{args.repeats}){seconds.beside()}"
    )
    if device.startswith("cpu:"):
        why = f"{device} is the host's own processor: the pipeline takes its time from the step, over no bus"
        verdict.say_not_testable(why, measured)
    else:
        ahead = seconds["prefetch-to-device"]
        longer = [measure.ratio(seconds[name], ahead) for name in ("numpy", "tf-data")]
        verdict.say_longer(longer, f"prefetch-to-device takes the stall away: {measured}")


if __name__ == "__main__":
    main()
