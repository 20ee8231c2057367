"""Data parallelism over processes: MultiWorkerMirroredStrategy, with a copy of the model on every device.

Each worker is a process that runs this same script. TF_CONFIG tells it who it is and where the others are:

    {"cluster": {"worker": ["localhost:23451", "localhost:23452"]}, "task": {"type": "worker", "index": 0}}

What to expect: the workers need nobody else. Each has the whole model on each of its devices, takes its own
part of every batch, and computes the gradients of that. Then, in every step, the gradients are summed over
all devices of all workers by one collective op a device, all gradients packed into one tensor of G bytes, as
many as the weights have. Around a ring of n devices each of them sends 2 (n - 1) / n times G bytes a step:
more workers, more bytes in all. Afterwards every device takes the same update, so the weights, which began
equal, stay equal; the end of this script gathers and compares them. --communication chooses who sums:

    auto   TensorFlow's choice: NCCL between GPUs where it can, else a ring
    ring   a ring over the network, which on one machine is its loopback
    nccl   NVIDIA's library, on GPUs only

Worker 0 is the chief, which prints the progress. It computes as much as any other.

The workers go through their steps together: each waits in every step for the slowest. One that dies makes the
others wait until they notice, and they do not go on without it: whoever starts them should end them, and
checkpoints be there to go on from (see tf-multiworker-checkpoint).

Keras 3 cannot fit under this strategy: --loop fit takes --keras 2, the legacy Keras of tf_keras.
Without GPUs a worker would take its host, cpu:0, for its one replica; here it takes its stand-ins.
"""

# mypy: allow-untyped-decorators, allow-subclassing-any

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress, verdict
from tf_shared import devices

LEARNING_RATE = 0.1


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-multiworker", __doc__)
    parser.add_argument(
        "--loop",
        choices=("custom", "fit"),
        default="custom",
        help="a loop of one's own, or Keras fit (default: custom)",
    )
    parser.add_argument(
        "--keras",
        choices=("3", "2"),
        default="3",
        help="Keras 3, or the legacy Keras 2 of tf_keras (default: 3)",
    )
    parser.add_argument(
        "--communication",
        choices=("auto", "ring", "nccl"),
        default="auto",
        help="who sums the gradients over the workers (default: auto, TensorFlow's choice)",
    )
    return parser


class Part(NamedTuple):
    """What one worker has of each step's work."""

    rank: int
    workers: int
    replicas: int
    """Of this worker, one a device."""
    share: int
    """Images a replica and step."""

    @property
    def batch(self) -> int:
        """Images a step, over all workers."""
        return self.share * self.replicas * self.workers

    @property
    def rows(self) -> slice:
        """Which images of a batch are this worker's."""
        own = self.share * self.replicas
        return slice(self.rank * own, (self.rank + 1) * own)


class Trained(NamedTuple):
    """What the loops train: a model that each replica has a copy of."""

    strategy: Any
    model: Any
    optimizer: Any
    jit: bool
    """Whether XLA compiles."""


def main() -> None:
    """Train as one of the workers; worker 0 says how well, and whether all hold the same weights."""
    parser = options()
    args = devices.parse(parser)
    config = devices.tf_config(parser, {"worker": 2})
    if args.loop == "fit" and args.keras == "3":
        parser.error("--loop fit needs --keras 2: Keras 3 cannot fit under MultiWorkerMirroredStrategy")
    os.environ["TF_USE_LEGACY_KERAS"] = "1" if args.keras == "2" else "0"
    import tensorflow as tf

    chosen = devices.set_up_process(parser, args)
    rank, workers = int(config["task"]["index"]), len(config["cluster"]["worker"])
    check(parser, args, chosen, workers)
    part = Part(rank, workers, len(chosen), args.batch // (workers * len(chosen)))
    strategy = meet(args.communication)

    tf.keras.utils.set_random_seed(args.seed)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    with strategy.scope():
        model = make_model(images.shape[1], args.width)
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)
    trained = Trained(strategy, model, optimizer, args.jit_compile == "on")

    def own_images(context: Any) -> Any:
        """This worker's part of each step's batch, in pieces of one replica's share."""

        def draw(step: Any) -> Any:
            # The same for all workers, of which each takes other rows.
            rows = tf.random.stateless_uniform([part.batch], [args.seed, step], 0, train, tf.int64)
            return tf.gather(images, rows[part.rows]), tf.gather(labels, rows[part.rows])

        return tf.data.Dataset.range(args.steps).map(draw).unbatch().batch(part.share)

    dataset = strategy.distribute_datasets_from_function(own_images)
    print(
        f"worker {rank} of {workers} on {', '.join(chosen)}: {part.share} images a replica and step; "
        f"{train} {source}",
        flush=True,
    )
    loop = fit if args.loop == "fit" else custom
    loop(trained, part, dataset, progress.Progress(args.steps, args.log_every))

    gathered = all_weights(strategy, model)
    if rank == 0:
        predictions = np.argmax(model(images[train:]), axis=1)
        accuracy = np.mean(predictions == labels[train:])
        print(f"accuracy {accuracy:.3f} on {len(predictions)} held-out digits", flush=True)
        say_whether_equal(gathered, args.steps, workers)


def check(parser: devices.Parser, args: argparse.Namespace, chosen: list[str], workers: int) -> None:
    """Exit with 2 where the options cannot work on these devices."""
    gpus = chosen[0].startswith("gpu:")
    if args.communication == "nccl" and not gpus:
        parser.error(f"--communication nccl works on GPUs only, and the replicas are on {', '.join(chosen)}")
    if args.loop == "fit" and args.jit_compile == "on" and not gpus:
        parser.error("--jit-compile on works in --loop fit on GPUs only; the custom loop compiles here")
    devices.check_batch(parser, args.batch, workers * len(chosen))


def meet(communication: str) -> Any:
    """Return the strategy.

    Before anything else of TensorFlow runs: here the workers meet, and wait for each other.
    """
    import tensorflow as tf

    sums = tf.distribute.experimental.CommunicationImplementation[communication.upper()]
    strategy = tf.distribute.MultiWorkerMirroredStrategy(
        communication_options=tf.distribute.experimental.CommunicationOptions(implementation=sums)
    )
    devices.stop_tuning()
    # TensorFlow has taken SIGTERM for itself by now, to let a job save itself first. Here it just ends.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return strategy


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


def fit(trained: Trained, part: Part, dataset: Any, watch: progress.Progress) -> None:
    """Train by Keras fit."""
    import tensorflow as tf

    class Report(tf.keras.callbacks.Callback):
        """Prints the running loss, which Keras has already read."""

        def on_train_batch_end(self, batch: int, logs: dict[str, float]) -> None:
            if part.rank == 0 and watch.due(batch + 1):
                watch.report(batch + 1, logs["loss"])

    with trained.strategy.scope():
        loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        trained.model.compile(trained.optimizer, loss, jit_compile=trained.jit)
    # The loss is the same on all replicas. By default tf_keras would add it up over the workers.
    trained.model.distribute_reduction_method = "first"
    trained.model.fit(dataset, steps_per_epoch=watch.steps, verbose=0, callbacks=[Report()])


def custom(trained: Trained, part: Part, dataset: Any, watch: progress.Progress) -> None:
    """Train by a loop of one's own."""
    import tensorflow as tf

    strategy, model, optimizer, jit = trained

    def loss_and_gradients(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / part.batch  # summed over replicas: the batch's mean
        return loss, tape.gradient(loss, model.trainable_variables)

    compiled = tf.function(loss_and_gradients, jit_compile=True) if jit else loss_and_gradients

    def replica_step(images: Any, labels: Any) -> Any:
        loss, gradients = compiled(images, labels)
        # Sums the gradients over the replicas of all workers, then updates this replica's weights.
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        losses = strategy.run(replica_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    for step, batch in enumerate(dataset, 1):
        loss = train_step(*batch)
        if watch.due(step):
            value = float(loss)  # in every worker, since none may run ahead of the others
            if part.rank == 0:
                watch.report(step, value)


def all_weights(strategy: Any, model: Any) -> Any:
    """The weights that each replica of all workers holds, a row each, worker by worker."""
    import tensorflow as tf

    @tf.function
    def gather() -> Any:
        def flat() -> Any:
            weights = [tf.reshape(weight, [-1]) for weight in model.trainable_variables]
            return tf.expand_dims(tf.concat(weights, axis=0), 0)

        return strategy.gather(strategy.run(flat), axis=0)

    return gather().numpy()


def say_whether_equal(gathered: Any, steps: int, workers: int) -> None:
    """Print whether the weights are equal; `gathered` has a row a replica, worker by worker."""
    differing = int(np.count_nonzero((gathered != gathered[0]).any(axis=0)))
    held = f"of the weights on {len(gathered)} replicas in {workers} workers after {steps} steps"
    if differing:
        verdict.say(False, f"{held}, {differing:,} of {gathered.shape[1]:,} differ")
    else:
        verdict.say(True, f"{held}, all {gathered.shape[1]:,} are the same, bit for bit")


if __name__ == "__main__":
    main()
