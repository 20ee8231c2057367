"""Ops that have no kernel for the device whose scope they are made in.

An op runs where it has a kernel, a piece of code for that kind of device. tf.device asks for a device, and
TensorFlow's soft placement (on by default) moves an op that has no kernel there to the host, without a
word. The ops around it stay, so its inputs cross to the host and its outputs back, in each step.
This program makes one such op in the middle of a network that is pinned to one device. --op chooses it:

    angle                 tf.math.angle of complex activations. Often named as an op that GPUs lack: the
                          program prints what the kernel table says.
    unique                UniqueV2 of the labels, which gives each class of a batch the same weight
    string-to-number      tf.strings.to_number of labels that come as text. Strings live on the host only.
    fractional-max-pool   tf.nn.fractional_max_pool of a convolution's output; alone of the last three
                          it has a gradient, an op that has no GPU kernel either

What to expect on a GPU, for the last three: the op runs on cpu:0, though the GPU was asked for. With
fractional-max-pool four large tensors cross in each step: the convolution's output to the host, the pooled
one back, the gradient of the pooled one to the host, and that of the convolution's output back. What to do:
take another op (tf.nn.max_pool2d), or move the op to where its data already is: labels can be read and
weighted in the input pipeline, on the host.

Stand-ins are CPU devices and have every kernel of the host, so nothing moves between them. With --scope
xla-cpu the scope is XLA's device of the host instead. It has a kernel for what XLA can compile, and like a
GPU none for the rest: string-to-number and fractional-max-pool really go to cpu:0. (It has angle and unique.)

Adding a float to a complex number, which is where angle is often shown, raises in TensorFlow 2 on any device:
an op's inputs must have one type. The last lines say what it raised, and what the kernel table has.

With --jit-compile on, XLA compiles the dense layers and the loss, and not the op.
"""

# mypy: allow-untyped-decorators

import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress, verdict
from tf_shared import devices

LEARNING_RATE = 0.1
POOLING = 1.5
FILTERS = 8
OPS = {
    "angle": "Angle",
    "unique": "UniqueV2",
    "string-to-number": "StringToNumber",
    "fractional-max-pool": "FractionalMaxPool",
}
"""What TensorFlow calls them."""
XLA_CPU = "/device:XLA_CPU:0"


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-no-kernel", __doc__)
    devices.add_pinned_device(parser)
    parser.add_argument(
        "--op", choices=tuple(OPS), default="angle", help="the op in the middle (default: angle)"
    )
    parser.add_argument(
        "--scope",
        choices=("device", "xla-cpu"),
        default="device",
        help="of the device, or of XLA's device of the host, which lacks kernels too (default: device)",
    )
    return parser


def main() -> None:
    """Train, and say how well, and what the kernel table has."""
    parser = options()
    args = devices.parse(parser)
    if args.scope == "xla-cpu":
        # Read when TensorFlow is imported.
        os.environ["TF_XLA_FLAGS"] = f"{os.environ.get('TF_XLA_FLAGS', '')} --tf_xla_enable_xla_devices"
    import tensorflow as tf

    pinned = devices.pinned(parser, args, devices.set_up(parser, args))
    device = XLA_CPU if args.scope == "xla-cpu" else pinned
    if args.scope == "xla-cpu" and not tf.config.list_logical_devices("XLA_CPU"):
        parser.error(f"--scope xla-cpu: TensorFlow {tf.__version__} makes no device XLA_CPU here")
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    network = Network(args.op, images.shape[1], args.width, args.batch, args.seed)
    weights = network.make_weights(device)
    with tf.device(device):
        last_loss = tf.Variable(0.0)

    def compiled(function: Any) -> Any:
        return tf.function(function, jit_compile=True) if args.jit_compile == "on" else function

    @compiled
    def scores_of(x: Any) -> Any:
        return tf.matmul(tf.nn.relu(tf.matmul(x, weights[-2])), weights[-1])

    @compiled
    def mean_loss(scores: Any, labels: Any, shares: Any) -> Any:
        return tf.reduce_mean(shares * tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))

    @tf.function
    def train_step(images: Any, labels: Any) -> None:
        with tf.device(device):
            numbers, shares = network.targets_of(labels)
            with tf.GradientTape() as tape:
                loss = mean_loss(scores_of(network.features_of(images)), numbers, shares)
            for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
                weight.assign_sub(LEARNING_RATE * gradient)
            last_loss.assign(loss)

    @tf.function
    def predict(images: Any) -> Any:
        with tf.device(device):
            return tf.argmax(scores_of(network.features_of(images)), axis=1)

    given = labels.astype(str) if args.op == "string-to-number" else labels
    print(f"{OPS[args.op]} in a network on {name_of(device)}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        with tf.device("cpu:0"):
            batch = tf.constant(images[rows]), tf.constant(given[rows])
        train_step(*batch)
        if watch.due(step):
            with tf.device(device):
                watch.report(step, float(last_loss))

    with tf.device("cpu:0"):
        unseen = tf.constant(images[train:])
    # A function that is called on XLA's own device is compiled whole, or not at all.
    with tf.device("cpu:0" if args.scope == "xla-cpu" else device):
        predictions = predict(unseen).numpy()
    print(
        f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits",
        flush=True,
    )
    say_what_the_table_has(OPS[args.op])
    say_what_mixed_types_do()


class Network:
    """The network up to the op in its middle, and what else depends on which op that is."""

    def __init__(self, op: str, pixels: int, width: int, batch: int, seed: int) -> None:
        self.op = op
        self.batch = batch
        self.seed = seed
        self.side = math.isqrt(pixels)
        # The weights in front of the op, and how many features come behind it.
        front, self.features = {
            "angle": ([[pixels, width], [pixels, width]], width),
            "fractional-max-pool": ([[3, 3, 1, FILTERS]], int(self.side / POOLING) ** 2 * FILTERS),
        }.get(op, ([], pixels))
        self.shapes = [*front, [self.features, width], [width, 10]]
        self.weights: list[Any] = []

    def make_weights(self, device: str) -> list[Any]:
        """Make the weights on a device, those of two dense layers last, and return them."""
        import tensorflow as tf

        @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
        def first_weights() -> Any:
            return [
                tf.random.stateless_normal(shape, [self.seed, number]) * (2 / math.prod(shape[:-1])) ** 0.5
                for number, shape in enumerate(self.shapes)
            ]

        with tf.device(device):
            self.weights = [tf.Variable(values) for values in first_weights()]
        return self.weights

    def features_of(self, x: Any) -> Any:
        """What the dense layers get of images."""
        import tensorflow as tf

        if self.op == "angle":
            return tf.math.angle(tf.complex(tf.matmul(x, self.weights[0]), tf.matmul(x, self.weights[1])))
        if self.op == "fractional-max-pool":
            x = tf.nn.conv2d(tf.reshape(x, [-1, self.side, self.side, 1]), self.weights[0], 1, "SAME")
            ratio = [1.0, POOLING, POOLING, 1.0]
            pooled = tf.nn.fractional_max_pool(x, ratio, pseudo_random=True, seed=self.seed + 1)[0]
            return tf.reshape(pooled, [-1, self.features])
        return x

    def targets_of(self, labels: Any) -> tuple[Any, Any]:
        """The labels as numbers, and the weight of each image in the loss."""
        import tensorflow as tf

        if self.op == "string-to-number":
            labels = tf.strings.to_number(labels, tf.int32)
        if self.op == "unique":
            classes, which = tf.raw_ops.UniqueV2(x=labels, axis=[0])
            counts = tf.math.unsorted_segment_sum(tf.ones_like(labels, tf.float32), which, tf.size(classes))
            return labels, self.batch / tf.cast(tf.size(classes), tf.float32) / tf.gather(counts, which)
        return labels, tf.ones([self.batch])


def name_of(device: str) -> str:
    """`xla_cpu:0` for a device of a longer name."""
    return device.rpartition("device:")[2].lower()


def say_what_the_table_has(op: str) -> None:
    """Print whether this TensorFlow has no GPU kernel for an op."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels

    kinds = {kernel.device_type for kernel in kernels.get_registered_kernels_for_op(op).kernel}
    has = " and ".join(sorted(kinds & {"CPU", "GPU", "DEFAULT"}))  # DEFAULT serves every kind of device
    told = f"that {op} has no GPU kernel: the kernel table of TensorFlow {tf.__version__} has it for {has}"
    if tf.test.is_built_with_gpu_support():
        verdict.say(has == "CPU", told)
    else:
        verdict.say_not_testable("this TensorFlow is built without GPUs, and its table knows none", told)


def say_what_mixed_types_do() -> None:
    """Print whether a float plus a complex number raises."""
    import tensorflow as tf

    def add() -> Any:
        return tf.constant(1.0) + tf.constant(1j)

    raised = {}
    for how, call in (("by itself", add), ("in a tf.function", tf.function(add))):
        try:
            call()
        except (TypeError, tf.errors.InvalidArgumentError) as error:
            words = str(error).strip().splitlines()[-1].partition(" [Op:")[0].strip()
            raised[how] = f"{type(error).__name__} {how} ({words.removeprefix('TypeError: ')})"
    told = " and ".join(raised.values()) or "nothing"
    verdict.say(len(raised) == 2, f"that float + complex is an error in TensorFlow 2: it raises {told}")


if __name__ == "__main__":
    main()
