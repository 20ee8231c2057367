"""Data parallelism with one copy of the weights, on the host: CentralStorageStrategy.

What to expect: each device computes the loss and the gradients of its own images, as with MirroredStrategy,
but no device has weights of its own. They live on the host (cpu:0), each device reads all of them in every
step, and sends all its gradients there; the host adds those up and updates the one copy. With G bytes of
weights, and as many of gradients, on N devices these cross in every step:

    host -> each device    the weights        G bytes, N x G in all
    each device -> host    the gradients      G bytes, N x G in all
    host -> each device    the images         batch / N x pixels x 4 bytes, by the strategy's input pipeline
    host -> each device    the labels         batch / N x 4 bytes

Mirrored replicas move the gradients only, and from card to card. So this pays where the weights do not fit on
a card several times, or where the cards have no way to each other but through the host anyway; and then
too the host's link carries 2 x N x G bytes a step.

Each replica reads each weight once, and uses it forward and backward. Code that reads a variable anew
wherever it needs it makes a transfer of each read that TensorFlow does not merge.

With a single device TensorFlow does something else: it keeps the weights on that one, and nothing of the
above crosses. The optimizer's step counter and rate are on the host too, 8 and 4 bytes.

With --jit-compile on, XLA compiles each replica's loss and gradients. A cluster cannot read a variable that
lives on another device, so the weights are read before it, and go in as arguments.
"""

# mypy: allow-untyped-decorators

import itertools
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress
from tf_shared import devices

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    return devices.parser("tf-central-storage", __doc__)


def check(parser: devices.Parser, batch: int, chosen: list[str]) -> None:
    """Exit with 2 where the options cannot work on these devices."""
    devices.check_batch(parser, batch, len(chosen))
    if len({name.partition(":")[0] for name in chosen}) > 1:
        parser.error(f"replicas must be all GPUs or all CPU devices, and {', '.join(chosen)} are not")


def first_weights(units: list[int], seed: int) -> Any:
    """Kernel and bias of each layer, on the host."""
    import tensorflow as tf

    @tf.function  # so that shapes and seeds are constants there, and are not sent there one by one
    def draw() -> Any:
        return [
            (tf.random.stateless_normal([n, m], [seed, layer]) * (2 / n) ** 0.5, tf.zeros(m))
            for layer, (n, m) in enumerate(itertools.pairwise(units))
        ]

    with tf.device("cpu:0"):
        return draw()


def forward(x: Any, weights: list[Any]) -> Any:
    """The scores of images."""
    import tensorflow as tf

    pairs = list(zip(weights[::2], weights[1::2], strict=True))
    for kernel, bias in pairs[:-1]:
        x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, kernel), bias))
    kernel, bias = pairs[-1]
    return tf.nn.bias_add(tf.matmul(x, kernel), bias)


def main() -> None:
    """Train, and say how well and where the weights are."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    chosen = devices.set_up(parser, args)
    check(parser, args.batch, chosen)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    share = args.batch // len(chosen)
    batch = share * len(chosen)  # a remainder is left out, so that every replica has an equal share
    units = [images.shape[1], args.width, args.width, 10]

    strategy = tf.distribute.experimental.CentralStorageStrategy(chosen)
    devices.stop_tuning()
    dataset = tf.data.Dataset.from_tensor_slices((images[:train], labels[:train]))
    dataset = dataset.shuffle(train, seed=args.seed).repeat().batch(batch, drop_remainder=True)

    first = first_weights(units, args.seed)
    with strategy.scope():  # the strategy decides where a variable goes that is made in here
        layers = [
            (tf.Variable(kernel, name=f"kernel_{number}"), tf.Variable(bias, name=f"bias_{number}"))
            for number, (kernel, bias) in enumerate(first)
        ]
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)
    variables = [variable for layer in layers for variable in layer]

    def loss_and_gradients(weights: list[Any], images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(weights)
            logits = forward(images, weights)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.reduce_sum(losses) / batch  # the sum over replicas is the mean over the batch
        return loss, tape.gradient(loss, weights)

    if args.jit_compile == "on":
        loss_and_gradients = tf.function(loss_and_gradients, jit_compile=True)

    def replica_step(images: Any, labels: Any) -> Any:
        weights = [tf.convert_to_tensor(variable) for variable in variables]  # from the host to here
        loss, gradients = loss_and_gradients(weights, images, labels)
        # Adds the gradients of all replicas up where the variable is, and updates it there.
        optimizer.apply_gradients(zip(gradients, variables, strict=True))
        return loss

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        losses = strategy.run(replica_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    print(f"replicas on {', '.join(chosen)}, {share} images each a step; {train} {source}", flush=True)
    watch = progress.Progress(args.steps, args.log_every)
    batches = iter(strategy.experimental_distribute_dataset(dataset))
    for step in range(1, args.steps + 1):
        loss = train_step(*next(batches))
        if watch.due(step):
            watch.report(step, float(loss))

    with tf.device("cpu:0"):
        predictions = np.argmax(forward(images[train:], [variable.value() for variable in variables]), axis=1)
    print(
        f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits",
        flush=True,
    )
    places = Counter(variable.device.rpartition("device:")[2].lower() for variable in variables)
    print(f"weights: {', '.join(f'{count} on {place}' for place, count in places.items())}", flush=True)


if __name__ == "__main__":
    main()
