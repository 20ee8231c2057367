"""Data parallelism with MirroredStrategy: each device has a copy of the model and a share of the batch.

What to expect: nothing here names the device of a training op, the strategy places them all. The weights
are on every device. Each replica computes the gradients of its own images; then, in every step, the
gradients are summed over the devices (as many bytes as the weights have), and every copy of the weights
takes the same update. --cross-device-ops chooses how they are summed. With G bytes of gradients:

    default                   one collective op a device, all gradients packed into one tensor of G bytes
    reduction-to-one-device   each gradient goes to the first device, which adds them up, and each sum
                              goes back: G bytes from every other device, and G bytes to it
    hierarchical-copy         the packed gradients go to one device of each half, then to the first,
                              and back the same way; made for eight GPUs in two groups of four
    nccl                      NVIDIA's library, on GPUs only

Every replica has an equal share of the batch; a remainder is left out. Little else crosses in a step:
the loss of each replica goes to the host (4 bytes each), and the first replica's step counter goes to the
others (8 bytes each). The strategy's input pipeline delivers each share to its device by itself; in the
custom loop the labels, int32, still come from the host.

XLA compiles Keras' whole step (fit, GPUs only), or each replica's loss and gradients (custom loop).
"""

# mypy: allow-untyped-decorators, allow-subclassing-any

import argparse
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
    parser = devices.parser("tf-mirrored", __doc__)
    parser.add_argument(
        "--loop",
        choices=("fit", "custom"),
        default="fit",
        help="Keras fit, or a loop of one's own (default: fit)",
    )
    parser.add_argument(
        "--cross-device-ops",
        choices=("default", "nccl", "hierarchical-copy", "reduction-to-one-device"),
        default="default",
        help="how the gradients are summed over the devices (default: TensorFlow's choice)",
    )
    return parser


def check(parser: devices.Parser, args: argparse.Namespace, chosen: list[str]) -> None:
    """Exit with 2 where the options cannot work on these devices."""
    names, replicas = ", ".join(chosen), len(chosen)
    gpus = all(name.startswith("gpu:") for name in chosen)
    devices.check_batch(parser, args.batch, replicas)
    if not gpus and any(name.startswith("gpu:") for name in chosen):
        parser.error(f"replicas must be all GPUs or all CPU devices, and {names} are not")
    if args.cross_device_ops == "nccl" and not gpus:
        parser.error(f"--cross-device-ops nccl works on GPUs only, and the replicas are on {names}")
    if args.cross_device_ops == "hierarchical-copy" and replicas % 2:
        # TensorFlow cuts the replicas into two halves, rounded down: the odd one's gradients would be lost.
        parser.error(f"--cross-device-ops hierarchical-copy needs an even number of devices, not {replicas}")
    if args.loop == "fit" and args.jit_compile == "on" and not gpus:
        parser.error("--jit-compile on works in --loop fit on GPUs only; the custom loop compiles here")


def make_strategy(chosen: list[str], cross_device_ops: str) -> Any:
    """A strategy with a replica on each device."""
    import tensorflow as tf

    sums = {
        "nccl": tf.distribute.NcclAllReduce,
        "hierarchical-copy": tf.distribute.HierarchicalCopyAllReduce,
        "reduction-to-one-device": tf.distribute.ReductionToOneDevice,
    }
    sum_over_devices = sums[cross_device_ops]() if cross_device_ops in sums else None
    return tf.distribute.MirroredStrategy(chosen, cross_device_ops=sum_over_devices)


def make_model(pixels: int, width: int) -> Any:
    """A dense network; made in the strategy's scope, it is there once for each replica."""
    import tensorflow as tf

    return tf.keras.Sequential(
        [
            tf.keras.Input([pixels]),
            tf.keras.layers.Dense(width, activation="relu"),
            tf.keras.layers.Dense(width, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def main() -> None:
    """Train, and say how well."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    chosen = devices.set_up(parser, args)
    check(parser, args, chosen)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    share = args.batch // len(chosen)  # Keras 3 cannot fit replicas with unequal shares
    batch = share * len(chosen)
    jit = args.jit_compile == "on"

    strategy = make_strategy(chosen, args.cross_device_ops)
    devices.stop_tuning()

    tf.keras.utils.set_random_seed(args.seed)
    dataset = tf.data.Dataset.from_tensor_slices((images[:train], labels[:train]))
    dataset = dataset.shuffle(train, seed=args.seed).repeat().batch(batch, drop_remainder=True)
    with strategy.scope():
        model = make_model(images.shape[1], args.width)
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)

    print(f"replicas on {', '.join(chosen)}, {share} images each a step; {train} {source}", flush=True)
    watch = progress.Progress(args.steps, args.log_every)

    def fit() -> None:
        class Report(tf.keras.callbacks.Callback):
            """Prints the running loss, which Keras has already read: it does so after each step."""

            def on_train_batch_end(self, batch: int, logs: dict[str, float]) -> None:
                if watch.due(batch + 1):
                    watch.report(batch + 1, logs["loss"])

        with strategy.scope():  # compile makes variables, of the metrics; outside, they would be on the host
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(optimizer, loss, jit_compile=jit)
        model.fit(dataset, steps_per_epoch=args.steps, verbose=0, callbacks=[Report()])

    def custom() -> None:
        def loss_and_gradients(images: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
                loss = tf.reduce_sum(losses) / batch  # the sum over replicas is the mean over the batch
            return loss, tape.gradient(loss, model.trainable_variables)

        compiled = tf.function(loss_and_gradients, jit_compile=True) if jit else loss_and_gradients

        def replica_step(images: Any, labels: Any) -> Any:
            loss, gradients = compiled(images, labels)
            # Sums the gradients over the replicas, then updates this replica's weights.
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        @tf.function
        def train_step(images: Any, labels: Any) -> Any:
            losses = strategy.run(replica_step, args=(images, labels))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

        batches = iter(strategy.experimental_distribute_dataset(dataset))
        for step in range(1, args.steps + 1):
            loss = train_step(*next(batches))
            if watch.due(step):
                watch.report(step, float(loss))

    if args.loop == "fit":
        fit()
    else:
        custom()

    with tf.device(chosen[0]):  # the first replica's weights
        predictions = np.argmax(model(images[train:]), axis=1)
    print(
        f"accuracy {np.mean(predictions == labels[train:]):.3f} on {len(predictions)} held-out digits",
        flush=True,
    )


if __name__ == "__main__":
    main()
