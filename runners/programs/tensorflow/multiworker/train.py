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

import os
import signal
import sys
from pathlib import Path
from typing import Any

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
    if args.communication == "nccl" and not chosen[0].startswith("gpu:"):
        parser.error(f"--communication nccl works on GPUs only, and the replicas are on {', '.join(chosen)}")
    if args.loop == "fit" and args.jit_compile == "on" and not chosen[0].startswith("gpu:"):
        parser.error("--jit-compile on works in --loop fit on GPUs only; the custom loop compiles here")
    rank, workers = int(config["task"]["index"]), len(config["cluster"]["worker"])
    replicas = workers * len(chosen)
    devices.check_batch(parser, args.batch, replicas)
    share = args.batch // replicas

    # Before anything else of TensorFlow runs: here the workers meet, and wait for each other.
    communication = tf.distribute.experimental.CommunicationOptions(
        implementation=tf.distribute.experimental.CommunicationImplementation[args.communication.upper()]
    )
    strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=communication)
    devices.stop_tuning()
    # TensorFlow has taken SIGTERM for itself by now, to let a job save itself first. Here it just ends.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)

    tf.keras.utils.set_random_seed(args.seed)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.Input(images.shape[1:]),
                tf.keras.layers.Dense(args.width, activation="relu"),
                tf.keras.layers.Dense(args.width, activation="relu"),
                tf.keras.layers.Dense(10),
            ]
        )
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)

    def own_images(context: Any) -> Any:
        """This worker's part of each step's batch, in pieces of one replica's share."""
        own = slice(rank * share * len(chosen), (rank + 1) * share * len(chosen))

        def draw(step: Any) -> Any:
            # The same for all workers, of which each takes other rows.
            rows = tf.random.stateless_uniform([share * replicas], [args.seed, step], 0, train, tf.int64)
            return tf.gather(images, rows[own]), tf.gather(labels, rows[own])

        return tf.data.Dataset.range(args.steps).map(draw).unbatch().batch(share)

    dataset = strategy.distribute_datasets_from_function(own_images)
    print(
        f"worker {rank} of {workers} on {', '.join(chosen)}: {share} images a replica and step; "
        f"{train} {source}",
        flush=True,
    )
    watch = progress.Progress(args.steps, args.log_every)
    jit = args.jit_compile == "on"

    def fit() -> None:
        class Report(tf.keras.callbacks.Callback):
            """Prints the running loss, which Keras has already read."""

            def on_train_batch_end(self, batch: int, logs: dict[str, float]) -> None:
                if rank == 0 and watch.due(batch + 1):
                    watch.report(batch + 1, logs["loss"])

        with strategy.scope():
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(optimizer, loss, jit_compile=jit)
        # The loss is the same on all replicas. By default tf_keras would add it up over the workers.
        model.distribute_reduction_method = "first"
        model.fit(dataset, steps_per_epoch=args.steps, verbose=0, callbacks=[Report()])

    def custom() -> None:
        def loss_and_gradients(images: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
                loss = tf.reduce_sum(losses) / (share * replicas)  # summed over replicas: the batch's mean
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
                if rank == 0:
                    watch.report(step, value)

    if args.loop == "fit":
        fit()
    else:
        custom()

    @tf.function
    def all_weights() -> Any:
        def flat() -> Any:
            weights = [tf.reshape(weight, [-1]) for weight in model.trainable_variables]
            return tf.expand_dims(tf.concat(weights, axis=0), 0)

        return strategy.gather(strategy.run(flat), axis=0)

    gathered = all_weights().numpy()
    if rank == 0:
        predictions = np.argmax(model(images[train:]), axis=1)
        accuracy = np.mean(predictions == labels[train:])
        print(f"accuracy {accuracy:.3f} on {len(predictions)} held-out digits", flush=True)
        say_whether_equal(gathered, args.steps, workers)


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
