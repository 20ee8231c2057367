"""Workers that can be killed and gone on from: MultiWorkerMirroredStrategy with a checkpoint every epoch.

Each worker is a process that runs this same script, and TF_CONFIG tells it who it is (see tf-multiworker).
If one of them dies, the rest cannot go on: the strategy has no way to let a worker in again. What was
learned is saved by checkpoints, and to resume is to start all workers once more with the same --checkpoints.

What to expect: saving is something that all workers do together, since some variables have a part of their
value on every worker. So all call save, but only the chief, which is worker 0, writes into the folder that
counts; the others write into one of their own and delete it. Another worker that wrote there would damage
the chief's files. At the start every worker restores the newest checkpoint: weights, what the optimizer
keeps, and the number of the step.

Which images a step takes depends on --seed and on the number of the step alone. So a resumed run goes through
the steps after its checkpoint just as the one before did, and their losses are the same, bit for bit: the
chief keeps each loss that it reads in losses.csv beside the checkpoints, and a resumed run compares its own
with those of the steps that the run before had done but not saved.

Where a dataset is shuffled instead, its iterator must be part of the checkpoint, and so must the state of a
random generator: what is not saved starts anew.
"""

# mypy: allow-untyped-decorators

import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, progress, verdict
from tf_shared import devices

LEARNING_RATE = 0.1
KEPT = 2
"""How many checkpoints are kept: the newest, and one in case that is lost."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-multiworker-checkpoint", __doc__)
    parser.add_argument(
        "--checkpoints",
        type=Path,
        default=Path("checkpoints"),
        metavar="FOLDER",
        help="where the checkpoints are kept, and looked for at the start (default: ./checkpoints)",
    )
    parser.add_argument(
        "--checkpoint-every",
        type=devices.positive,
        metavar="N",
        help="steps from one checkpoint to the next (default: an epoch, as many as all images last for)",
    )
    return parser


def main() -> None:
    """Train as one of the workers, from the newest checkpoint on where there is one."""
    parser = options()
    args = devices.parse(parser)
    config = devices.tf_config(parser, {"worker": 2})
    import tensorflow as tf

    chosen = devices.set_up_process(parser, args)
    rank, workers = int(config["task"]["index"]), len(config["cluster"]["worker"])
    replicas = workers * len(chosen)
    devices.check_batch(parser, args.batch, replicas)
    share = args.batch // replicas
    strategy = meet()

    tf.keras.utils.set_random_seed(args.seed)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    every = args.checkpoint_every or train // args.batch
    with strategy.scope():
        model = make_model(images.shape[1], args.width)
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE, momentum=0.9)
        optimizer.build(model.trainable_variables)  # its slots must be there before they can be restored
        done = tf.Variable(0, dtype=tf.int64)
    saved = Checkpoints(args.checkpoints, rank, done, model=model, optimizer=optimizer)
    resumed_at = saved.restore()
    if resumed_at >= args.steps:
        parser.error(
            f"the checkpoint is of step {resumed_at}: with --steps {args.steps} nothing is left to do"
        )

    def own_images(context: Any) -> Any:
        """This worker's part of each step's batch, in pieces of one replica's share."""
        own = slice(rank * share * len(chosen), (rank + 1) * share * len(chosen))

        def draw(step: Any) -> Any:
            # The same for all workers, of which each takes other rows.
            rows = tf.random.stateless_uniform([share * replicas], [args.seed, step], 0, train, tf.int64)
            return tf.gather(images, rows[own]), tf.gather(labels, rows[own])

        return tf.data.Dataset.range(resumed_at, args.steps).map(draw).unbatch().batch(share)

    begin = f"resumed at step {resumed_at}" if resumed_at else "from the start"
    print(
        f"worker {rank} of {workers} on {', '.join(chosen)}, {begin}: {share} images a replica and step, "
        f"a checkpoint every {every} steps; {train} {source}",
        flush=True,
    )
    train_step = make_train_step(strategy, model, optimizer, share * replicas, args.jit_compile == "on")
    ledger = Losses(args.checkpoints / "losses.csv", replicas)
    watch = progress.Progress(args.steps, args.log_every, resumed_at)
    for step, batch in enumerate(strategy.distribute_datasets_from_function(own_images), resumed_at + 1):
        loss = train_step(*batch)
        if watch.due(step):
            value = float(loss)  # in every worker, since none may run ahead of the others
            if rank == 0:
                watch.report(step, value)
                ledger.add(step, value)
        if step % every == 0:
            saved.save(step)

    gathered = all_weights(strategy, model)  # when they are there, all workers have saved what they had to
    if rank == 0:
        predictions = np.argmax(model(images[train:]), axis=1)
        accuracy = np.mean(predictions == labels[train:])
        print(f"accuracy {accuracy:.3f} on {len(predictions)} held-out digits", flush=True)
        say_whether_the_same(ledger, resumed_at)
        say_whether_equal(gathered)
        say_whose_are_kept(args.checkpoints)


def meet() -> Any:
    """Return the strategy.

    Before anything else of TensorFlow runs: here the workers meet, and wait for each other.
    """
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
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


def make_train_step(strategy: Any, model: Any, optimizer: Any, batch: int, jit: bool) -> Any:
    """Function from each replica's images and labels to the loss of the batch, of so many images."""
    import tensorflow as tf

    def loss_and_gradients(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / batch  # summed over replicas: the batch's mean
        return loss, tape.gradient(loss, model.trainable_variables)

    compiled = tf.function(loss_and_gradients, jit_compile=True) if jit else loss_and_gradients

    def replica_step(images: Any, labels: Any) -> Any:
        loss, gradients = compiled(images, labels)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        losses = strategy.run(replica_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    return train_step


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


class Checkpoints:
    """What all workers save together, and the chief's of which is kept."""

    def __init__(self, chiefs: Path, rank: int, done: Any, **parts: Any) -> None:
        """`done` is the variable with the number of the step, `parts` what else is saved."""
        import tensorflow as tf

        self.chiefs = chiefs
        self.done = done
        self.others = None if rank == 0 else chiefs / f"worker-{rank}"
        """Where a worker that is not the chief writes, to delete it."""
        self.checkpoint = tf.train.Checkpoint(**parts, done=done)
        self.manager = tf.train.CheckpointManager(
            self.checkpoint, str(self.others or chiefs), max_to_keep=KEPT, checkpoint_name="step"
        )

    def restore(self) -> int:
        """Restore the newest of the chief's, in all workers, and return its step; 0 where there is none."""
        import tensorflow as tf

        newest = tf.train.latest_checkpoint(str(self.chiefs))
        if newest:
            self.checkpoint.restore(newest).assert_existing_objects_matched()
        return int(self.done.numpy())

    def save(self, step: int) -> None:
        """Save what there is after a step."""
        self.done.assign(step)
        self.manager.save(checkpoint_number=step)
        if self.others:
            shutil.rmtree(self.others)


class Losses:
    """The losses of the steps, in a file that a killed run leaves behind for the next."""

    def __init__(self, file: Path, replicas: int) -> None:
        """`replicas`: over how many a step's loss is summed, which decides how it is rounded."""
        self.file = file
        self.replicas = replicas
        self.now: dict[int, float] = {}
        """Of this run, by step."""
        self.before: dict[int, float] = {}
        """Of the run that this one goes on from, where that had as many replicas."""
        if file.exists():
            # A line that a kill cut off lacks its end.
            whole = [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
            rows = [line.strip().split(",") for line in whole]
            self.before = {
                int(step): float.fromhex(loss) for step, loss, over in rows if int(over) == replicas
            }

    def add(self, step: int, loss: float) -> None:
        """Note the loss of a step, exactly."""
        self.now[step] = loss
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a") as lines:
            lines.write(f"{step},{loss.hex()},{self.replicas}\n")


def say_whether_the_same(losses: Losses, resumed_at: int) -> None:
    """Print whether the resumed steps have the losses that they had in the run before."""
    again = [step for step in losses.now if step in losses.before]
    if not resumed_at:
        verdict.say_not_testable("nothing was resumed", "kill a run after its first checkpoint and resume it")
    elif not again:
        verdict.say_not_testable(
            "the run before had read no loss after its last checkpoint, or on other replicas",
            f"this one resumed at step {resumed_at}",
        )
    else:
        farthest = max(abs(losses.now[step] - losses.before[step]) for step in again)
        one = len(again) == 1
        told = (
            f"loss of step {again[0]}" if one else f"{len(again)} losses of steps {again[0]} to {again[-1]}"
        )
        if farthest == 0:
            found = f"{'is' if one else 'are'} the same, bit for bit"
        else:
            found = f"{'differs' if one else 'differ'} by up to {farthest:.3g}"
        verdict.say(
            farthest == 0,
            f"resumed at step {resumed_at}, and the {told}, which the run before had done, {found}",
        )


def say_whether_equal(gathered: Any) -> None:
    """Print whether the weights are equal; `gathered` has a row a replica, worker by worker."""
    differing = int(np.count_nonzero((gathered != gathered[0]).any(axis=0)))
    found = f"{differing:,} of them differ" if differing else "all are the same, bit for bit"
    verdict.say(
        not differing,
        f"{len(gathered)} replicas hold {gathered.shape[1]:,} weights each at the end: {found}",
    )


def say_whose_are_kept(folder: Path) -> None:
    """Print whether only the chief's checkpoints are left."""
    steps = sorted(int(file.stem.rpartition("-")[2]) for file in folder.glob("step-*.index"))
    others = sorted(entry.name for entry in folder.glob("worker-*"))
    if not steps:
        verdict.say_not_testable("no checkpoint was due", "the run is shorter than an epoch")
        return
    told = f"the chief's checkpoints of step {' and '.join(map(str, steps))} are kept"
    found = f"and those of {', '.join(others)} are there too" if others else "and no other worker's"
    verdict.say(not others, f"{told}, {found}")


if __name__ == "__main__":
    main()
