"""Model parallelism: the layers of one network are split over devices with tf.device.

What to expect: on the way forward, each stage hands its last activation to the next device; on the way
back, each stage hands the gradient of that activation to the device before. Both are batch x width x 4
bytes, and only neighbours exchange anything.

Pinning the layers is not enough for that. TensorFlow puts the ops of tape.gradient on the default device,
not where the forward ops are, unless they too are made inside a tf.device scope. So each stage has a
tape of its own here, and differentiates and updates its weights under its own device.

What crosses in a training step, with three devices A, B, C beside the host (cpu:0):

    cpu:0 -> A    the images           batch x pixels x 4 bytes
    cpu:0 -> C    the labels           batch x 4 bytes
    A -> B -> C   the activations      batch x width x 4 bytes each
    C -> B -> A   their gradients      batch x width x 4 bytes each

The loss stays on the last device; its 4 bytes cross to the host when a line is printed. So do the
predictions, batch x 8 bytes, when the accuracy is measured at the end.

With --jit-compile on, XLA compiles each stage's layers by themselves: a cluster cannot span devices.
The same tensors cross.
"""

# mypy: allow-untyped-decorators

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, layer_split, progress
from tf_shared import devices

LEARNING_RATE = 0.05


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-model-parallel", __doc__)
    layer_split.add_options(parser, 6, "dense layers")
    return parser


class Stage(NamedTuple):
    """Consecutive layers that live on one device."""

    device: str
    variables: list[Any]
    forward: Any
    """Function from the stage's input to its output."""


def main() -> None:
    """Train, and say how well."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    chosen = devices.set_up(parser, args, least=2)
    bounds = layer_split.stage_bounds(parser, args, len(chosen))
    last = chosen[-1]
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    units = [images.shape[1], *[args.width] * (args.layers - 1), 10]
    jit = args.jit_compile == "on"
    stages = [
        make_stage(device, units, range(begin, end), args.seed, jit)
        for device, begin, end in zip(chosen, bounds, bounds[1:], strict=False)
    ]
    train_step = make_train_step(stages, jit)

    @tf.function
    def predict(images: Any) -> Any:
        x = images
        for stage in stages:
            with tf.device(stage.device):
                x = stage.forward(x)
        return tf.argmax(x, axis=1)

    print(f"layers {bounds} on {', '.join(chosen)}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        with tf.device("cpu:0"):
            batch = tf.constant(images[rows]), tf.constant(labels[rows])
        # What a function returns passes an op in the scope of its call: without one, the loss would go
        # to the default device in each step.
        with tf.device(last):
            loss = train_step(*batch)
        if watch.due(step):
            watch.report(step, float(loss))

    # The held-out digits, in batches of the same size; the last one is filled up with digits seen before.
    predictions: list[int] = []
    unseen = np.arange(train, len(images))
    for start in range(0, len(unseen), args.batch):
        with tf.device("cpu:0"):
            batch = tf.constant(images[np.take(unseen, range(start, start + args.batch), mode="wrap")])
        with tf.device(last):
            predictions.extend(predict(batch).numpy())
    accuracy = np.mean(predictions[: len(unseen)] == labels[unseen])
    print(f"accuracy {accuracy:.3f} on {len(unseen)} held-out digits", flush=True)


def compiled(function: Any, jit: bool) -> Any:
    """The function, compiled by XLA where it is to be."""
    import tensorflow as tf

    return tf.function(function, jit_compile=True) if jit else function


def make_stage(device: str, units: list[int], numbers: range, seed: int, jit: bool) -> Stage:
    """Layers of these numbers on a device; `units` has the width before each layer and behind the last."""
    import tensorflow as tf

    @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
    def first_weights() -> Any:
        # Stateless random numbers are the same on every device: the split changes no result.
        return [
            (tf.random.stateless_normal([n, m], [seed, layer]) * (2 / n) ** 0.5, tf.zeros(m))
            for layer, n, m in zip(numbers, units[numbers.start :], units[numbers.start + 1 :], strict=False)
        ]

    with tf.device(device):
        layers = [(tf.Variable(kernel), tf.Variable(bias)) for kernel, bias in first_weights()]

    def forward(x: Any) -> Any:
        for number, (kernel, bias) in zip(numbers, layers, strict=True):
            x = tf.nn.bias_add(tf.matmul(x, kernel), bias)
            if number < len(units) - 2:
                x = tf.nn.relu(x)
        return x

    return Stage(device, [variable for layer in layers for variable in layer], compiled(forward, jit))


def make_train_step(stages: list[Stage], jit: bool) -> Any:
    """Function that trains the stages with a batch, and returns its loss."""
    import tensorflow as tf

    def mean_loss(logits: Any, labels: Any) -> Any:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    loss_of = compiled(mean_loss, jit)

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        # Forward, stage by stage. Each has its own tape, which starts from what came in.
        passed = []
        x = images
        for stage in stages:
            with tf.device(stage.device), tf.GradientTape() as tape:
                if stage is not stages[0]:  # nobody needs the gradient of the images
                    tape.watch(x)
                output = stage.forward(x)
                if stage is stages[-1]:
                    output = loss_of(output, labels)
            passed.append((stage, tape, x, output))
            x = output

        # Backward, in the opposite order: each stage receives the gradient of its output.
        gradient = None
        for stage, tape, x, output in reversed(passed):
            with tf.device(stage.device):
                gradient, *changes = tape.gradient(output, [x, *stage.variables], output_gradients=gradient)
                for variable, change in zip(stage.variables, changes, strict=True):
                    variable.assign_sub(LEARNING_RATE * change)
        return passed[-1][-1]

    return train_step


if __name__ == "__main__":
    main()
