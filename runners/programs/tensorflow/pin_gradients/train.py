"""Where gradients are computed: tape.gradient inside and outside of a tf.device scope.

The model, its loss and its updates are pinned to one device. That does not pin the backward pass:
tape.gradient makes new ops, and they go to the device that is in scope where tape.gradient is called.
With --gradients outside, no scope is open there, so they go to the default device (cpu:0, or gpu:0 where
TensorFlow sees a GPU): weights and activations cross to it in each step, and gradients cross back.
With --gradients inside, one more `with tf.device` keeps everything in place.

What crosses in a training step, on a machine whose default device is the host, with the model on D:

    always          cpu:0 -> D   the images, batch x pixels x 4 bytes, and the labels, batch x 4 bytes
    outside only    D -> cpu:0   the two hidden activations, batch x width x 4 bytes each; the kernels of
                                 the second and third layer; the loss's own gradient, batch x 10 x 4 bytes
                    cpu:0 -> D   the gradients of the three kernels and three biases

The two runs differ in where exactly the gradient ops are, and in what crosses because of it. Where D is
the default device itself, they do not differ. The loss stays on D until a line is printed.

With --jit-compile on, XLA compiles the layers, the loss, and the backward function of each: the backward
functions run where tape.gradient was called, all the same.
"""

# mypy: allow-untyped-decorators

import contextlib
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress
from tf_shared import devices

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-pin-gradients", __doc__)
    devices.add_pinned_device(parser)
    parser.add_argument(
        "--gradients",
        choices=("outside", "inside"),
        default="outside",
        help="call tape.gradient outside or inside the tf.device scope (default: outside)",
    )
    return parser


def main() -> None:
    """Train, and say how well."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    device = devices.pinned(parser, args, devices.set_up(parser, args))
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    units = [images.shape[1], args.width, args.width, 10]

    @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
    def first_weights() -> Any:
        return [
            (tf.random.stateless_normal([n, m], [args.seed, layer]) * (2 / n) ** 0.5, tf.zeros(m))
            for layer, (n, m) in enumerate(itertools.pairwise(units))
        ]

    with tf.device(device):
        layers = [(tf.Variable(kernel), tf.Variable(bias)) for kernel, bias in first_weights()]
        last_loss = tf.Variable(0.0)
    variables = [variable for layer in layers for variable in layer]

    def compiled(function: Any) -> Any:
        return tf.function(function, jit_compile=True) if args.jit_compile == "on" else function

    @compiled
    def forward(x: Any) -> Any:
        for kernel, bias in layers[:-1]:
            x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))
        kernel, bias = layers[-1]
        return tf.nn.bias_add(tf.matmul(x, kernel), bias)

    @compiled
    def mean_loss(logits: Any, labels: Any) -> Any:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))

    def gradient_scope() -> Any:
        return tf.device(device) if args.gradients == "inside" else contextlib.nullcontext()

    @tf.function
    def train_step(images: Any, labels: Any) -> None:
        with tf.device(device), tf.GradientTape() as tape:
            loss = mean_loss(forward(images), labels)

        with gradient_scope():
            gradients = tape.gradient(loss, variables)

        with tf.device(device):
            for variable, gradient in zip(variables, gradients, strict=True):
                variable.assign_sub(LEARNING_RATE * gradient)
            last_loss.assign(loss)  # returned instead, it would pass an op on the default device

    @tf.function
    def predict(images: Any) -> Any:
        return tf.argmax(forward(images), axis=1)

    print(f"model on {device}, tape.gradient {args.gradients} its scope; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        with tf.device("cpu:0"):
            batch = tf.constant(images[rows]), tf.constant(labels[rows])
        train_step(*batch)
        if watch.due(step):
            with tf.device(device):
                watch.report(step, float(last_loss))

    with tf.device(device):
        predictions = predict(tf.constant(images[train:])).numpy()
    print(
        f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits",
        flush=True,
    )


if __name__ == "__main__":
    main()
