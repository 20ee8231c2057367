"""One model, one optimizer and one gradient a device, each on its own slice of every batch, all by hand.

What to expect: with N devices, replica i takes the images i, i + N, i + 2N, .. of each batch: interleaved
slices. Its weights, its forward pass, its loss, its gradients and its updates are all made under tf.device of
its own device, tape.gradient included, and so all of it stays there. No device sends anything to another.

What crosses in a training step is each replica's slice, batch / N x pixels x 4 bytes of images and
batch / N x 4 bytes of labels, from the host (cpu:0) to its device, and nothing else. The losses stay on the
devices until a line is printed; then one of 4 bytes a device comes to the host.

Nothing exchanges the gradients either. The replicas begin with the same weights, learn from different images,
and so drift apart: these are N models, each trained on one part of the data, and not one model trained on all
of it. The program says at the end how far apart they are. To train one model, sum the gradients over the
devices in every step, which is what MirroredStrategy does.

With --jit-compile on, XLA compiles each replica's loss and gradients into one cluster on its device.
"""

# mypy: allow-untyped-decorators

import itertools
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress
from tf_shared import devices

LEARNING_RATE = 0.1


class Replica(NamedTuple):
    """A model of its own, on its own device."""

    device: str
    layers: list[tuple[Any, Any]]
    """Kernel and bias of each."""
    optimizer: Any
    loss: Any
    """Of its last step; it stays on the device."""

    @property
    def variables(self) -> list[Any]:
        """All weights."""
        return [variable for layer in self.layers for variable in layer]


def options() -> devices.Parser:
    """The command line."""
    return devices.parser("tf-pin-replica-gradients", __doc__)


def main() -> None:
    """Train the replicas, and say how well, and how far they are apart."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    chosen = devices.set_up(parser, args, least=2)
    devices.check_batch(parser, args.batch, len(chosen))
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    units = [images.shape[1], args.width, args.width, 10]

    replicas = [make_replica(device, units, args.seed) for device in chosen]
    differentiate = [differentiation_of(replica, args.jit_compile == "on") for replica in replicas]

    @tf.function
    def train_step(slices: Any) -> None:
        for replica, part, work in zip(replicas, slices, differentiate, strict=True):
            with tf.device(replica.device):
                loss, gradients = work(*part)
                replica.optimizer.apply_gradients(zip(gradients, replica.variables, strict=True))
                replica.loss.assign(loss)  # returned instead, it would pass an op on the default device

    print(f"replicas on {', '.join(chosen)}; {train} {source}", flush=True)
    rng = np.random.default_rng(args.seed)
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        rows = rng.integers(train, size=args.batch)
        with tf.device("cpu:0"):
            slices = [
                (tf.constant(images[part]), tf.constant(labels[part]))
                for part in (rows[place :: len(replicas)] for place in range(len(replicas)))
            ]
        train_step(slices)
        if watch.due(step):
            watch.report(step, float(np.mean([read(replica, replica.loss) for replica in replicas])))

    for replica in replicas:
        with tf.device(replica.device):
            predictions = prediction_of(replica)(tf.constant(images[train:])).numpy()
        right = np.mean(predictions == labels[train:])
        print(
            f"accuracy {right:.3f} on {len(predictions)} held-out digits, of {replica.device}'s", flush=True
        )
    first, *others = [[read(replica, variable) for variable in replica.variables] for replica in replicas]
    apart = max(
        np.abs(one - other).max() / np.abs(one).max()
        for weights in others
        for one, other in zip(first, weights, strict=True)
    )
    print(f"weights differ between replicas by up to {apart:.1%} of the largest in one array", flush=True)


def make_replica(device: str, units: list[int], seed: int) -> Replica:
    """A model on this device, with as many units before and behind each layer."""
    import tensorflow as tf

    @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
    def first_weights() -> Any:
        return [
            (tf.random.stateless_normal([n, m], [seed, layer]) * (2 / n) ** 0.5, tf.zeros(m))
            for layer, (n, m) in enumerate(itertools.pairwise(units))
        ]

    with tf.device(device):
        layers = [(tf.Variable(kernel), tf.Variable(bias)) for kernel, bias in first_weights()]
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)
        replica = Replica(device, layers, optimizer, tf.Variable(0.0))
        optimizer.build(replica.variables)
    return replica


def forward(replica: Replica, x: Any) -> Any:
    """The scores of images."""
    import tensorflow as tf

    for kernel, bias in replica.layers[:-1]:
        x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))
    kernel, bias = replica.layers[-1]
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def differentiation_of(replica: Replica, jit: bool) -> Any:
    """Function from images and labels to a replica's loss and gradients."""
    import tensorflow as tf

    def loss_and_gradients(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = forward(replica, images)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        return loss, tape.gradient(loss, replica.variables)  # here, and not outside of tf.device

    return tf.function(loss_and_gradients, jit_compile=True) if jit else loss_and_gradients


def prediction_of(replica: Replica) -> Any:
    """Function from images to the digits that a replica sees in them."""
    import tensorflow as tf

    @tf.function
    def predict(images: Any) -> Any:
        return tf.argmax(forward(replica, images), axis=1)

    return predict


def read(replica: Replica, variable: Any) -> Any:
    """The value of a replica's variable."""
    import tensorflow as tf

    with tf.device(replica.device):  # else it would go to the host by way of the default device
        return variable.numpy()


if __name__ == "__main__":
    main()
