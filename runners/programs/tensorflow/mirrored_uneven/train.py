"""Mirrored replicas of unequal speed: equal shares of the batch, and shares that fit their speeds.

What to expect: MirroredStrategy sums the gradients over the devices in every step, and that sum needs all of
them. Who is done early waits: a step takes as long as its slowest replica. With equal shares of the batch,
one device that needs three times as long for an image makes all of them as slow as itself. With shares
that fit the speeds, all are done at the same time, and nobody waits. In images, of a batch of B on N devices
of which the last is S times as slow:

    equal       B / N each                        the others wait (S - 1) / S of the time
    weighted    S parts each, and 1 for the last  nobody waits

The sum of the losses is divided by the whole batch, not averaged over replicas: then a share of any size
counts as much as it has images, and both ways train the same model. Averages of unequal shares would not.

The unequal speed is INJECTED: every replica sleeps --pause-us microseconds for each of its images before it
computes, and the last device --slowdown times as long. What is measured is who waits for whom, not how fast
any device is. Sleeping takes no core: on stand-ins, which are threads of one processor, the pauses run side
by side as they would on devices of their own, and only the training itself shares the cores.

How long a replica waits is measured in the step itself: each notes the time when its gradients are ready, and
its wait is the time from there until the last one's are. On a GPU "ready" is when one number of the gradients
has come to the host.

Keras fit and the strategy's own input pipeline cut a batch evenly only. Unequal shares are made by hand here,
with experimental_distribute_values_from_function. XLA, with --jit-compile on, compiles each replica's loss
and gradients.
"""

# mypy: allow-untyped-decorators

import functools
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "helpers"))

from shared import digits, measure, slices, verdict
from tf_shared import devices

LEARNING_RATE = 0.1
SPLITS = ("equal", "weighted")
LEFT = 0.1
"""The share of a step up to which a wait counts as gone."""
EVEN = "no slow one"
"""The way to compare with: equal shares, and all replicas equally fast."""


def options() -> devices.Parser:
    """The command line."""
    parser = devices.parser("tf-mirrored-uneven", __doc__, 20, "steps measured each time", timed=True)
    parser.add_argument(
        "--split",
        choices=("both", *SPLITS),
        default="both",
        help="shares of the batch: equal, or weighted by speed; both: compare them (default: both)",
    )
    parser.add_argument(
        "--slowdown",
        type=devices.positive,
        default=3,
        metavar="N",
        help="injected: how many times as long the last device takes for an image (default: 3)",
    )
    parser.add_argument(
        "--pause-us",
        type=devices.positive,
        default=300,
        metavar="N",
        help="injected: microseconds that a replica sleeps for each image (default: 300)",
    )
    measure.add_repeats(parser)
    return parser


def check(parser: devices.Parser, args: Any, chosen: list[str]) -> list[int]:
    """The speeds of the devices, the slowest as 1; exits with 2 where the options cannot work on them."""
    if len({name.partition(":")[0] for name in chosen}) > 1:
        parser.error(f"replicas must be all GPUs or all CPU devices, and {', '.join(chosen)} are not")
    speeds = [args.slowdown] * (len(chosen) - 1) + [1]
    if args.slowdown == 1 and args.split == "both":
        parser.error("--slowdown 1 makes both splits the same; give 2 or more, or choose one --split")
    for loads in ([1] * len(chosen), speeds):
        if 0 in (cut := slices.cut(args.batch, loads)):
            shares = ", ".join(f"{images} for {name}" for images, name in zip(cut, chosen, strict=True))
            parser.error(f"--batch {args.batch} leaves a replica without an image: {shares}")
    return speeds


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


def hold_back(images: Any, seconds: float) -> Any:
    """The injected load: the images, later."""
    time.sleep(seconds)
    return images


def now(number: Any) -> Any:
    """When this number has come to the host."""
    return np.float64(time.perf_counter())


def make_train_step(strategy: Any, model: Any, optimizer: Any, batch: int, jit: bool) -> Any:
    """Function from each replica's images, labels and pause to the loss, and when each was ready."""
    import tensorflow as tf

    def loss_and_gradients(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / batch  # summed over replicas: the mean over the batch
        return loss, tape.gradient(loss, model.trainable_variables)

    if jit:
        loss_and_gradients = tf.function(loss_and_gradients, jit_compile=True)

    def replica_step(images: Any, labels: Any, pause: Any) -> Any:
        # Not stateful: TensorFlow runs stateful ops, of all replicas, in the order in which they were made,
        # and then one replica's pause would wait for the other's. Nor a control dependency, which it drops.
        with tf.device("cpu:0"):
            late = tf.numpy_function(hold_back, [images, pause], images.dtype, stateful=False)
            late = tf.ensure_shape(late, images.shape)
        loss, gradients = loss_and_gradients(late, labels)
        number = gradients[-1][0]
        with tf.device("cpu:0"):
            ready = tf.numpy_function(now, [number], tf.float64, stateful=False)
        # Sums the gradients over the replicas, for which it needs those of all, then updates the weights.
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss, ready

    @tf.function
    def train_step(images: Any, labels: Any, pauses: Any) -> Any:
        losses, ready = strategy.run(replica_step, args=(images, labels, pauses))
        loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        return loss, strategy.experimental_local_results(ready)

    return train_step


def shares(way: str, batch: int, speeds: list[int]) -> list[int]:
    """Images a replica."""
    cut: list[int] = slices.cut(batch, speeds if way == "weighted" else [1] * len(speeds))
    return cut


def spread(strategy: Any, values: list[Any]) -> Any:
    """A value that is another one for each replica."""
    return strategy.experimental_distribute_values_from_function(
        lambda context: values[context.replica_id_in_sync_group]
    )


def main() -> None:
    """Train in each way, and say how long a step takes and who waits."""
    parser = options()
    args = devices.parse(parser)
    import tensorflow as tf

    # A pause holds one of the threads that run ops; each replica needs another one for its work.
    tf.config.threading.set_inter_op_parallelism_threads(
        4 * max(2, args.stand_ins or 0, len(args.devices or ()))
    )
    chosen = devices.set_up(parser, args, least=2)
    speeds = check(parser, args, chosen)
    images, labels, source = digits.load(args.data)
    train = len(images) - digits.held_out(images)
    count = len(chosen)
    rng = np.random.default_rng(args.seed)
    tf.keras.utils.set_random_seed(args.seed)
    strategy = tf.distribute.MirroredStrategy(chosen)
    with strategy.scope():
        model = make_model(images.shape[1], args.width)
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)

    train_step = make_train_step(strategy, model, optimizer, args.batch, args.jit_compile == "on")
    losses: dict[str, float] = {}
    waits: dict[str, list[Any]] = {}

    def training(way: str) -> None:
        """Train some steps, and note who waited how long in each."""
        cut = shares(way, args.batch, speeds)
        ends = np.cumsum(cut)
        slow = [1] * count if way == EVEN else [args.slowdown // speed for speed in speeds]
        pauses = [n * times * args.pause_us / 1e6 for n, times in zip(cut, slow, strict=True)]

        loss: Any = None
        moments = []
        for _ in range(args.steps):
            rows = rng.integers(train, size=args.batch)
            with tf.device("cpu:0"):
                parts = [rows[end - n : end] for n, end in zip(cut, ends, strict=True)]
                x = spread(strategy, [tf.constant(images[part]) for part in parts])
                y = spread(strategy, [tf.constant(labels[part]) for part in parts])
                pause = spread(strategy, [tf.constant(seconds, tf.float64) for seconds in pauses])
            loss, ready = train_step(x, y, pause)
            moments.append(ready)
        # Taken when all steps are given out, so that no step waits for it.
        losses[way] = float(loss)
        for ready in moments:
            times = np.array([float(moment) for moment in ready])
            waits.setdefault(way, []).append(times.max() - times)

    wanted = SPLITS if args.split == "both" else (args.split,)
    print(
        f"replicas on {', '.join(chosen)}; injected: each sleeps {args.pause_us} us an image, {chosen[-1]} "
        f"{args.slowdown} times as long; {train} {source}",
        flush=True,
    )
    ways = {way: functools.partial(training, way) for way in (EVEN, *wanted)}
    taken = measure.in_turn(ways, args.repeats, args.steps)
    seconds = {way: measure.each(times, args.steps) for way, times in taken.items()}
    kept = {way: medians(waits[way], args.repeats, args.steps) for way in ways}
    for way, times in seconds.items():
        cut = ", ".join(map(str, shares(way, args.batch, speeds)))
        told = ", ".join(f"{name} {wait.ms()}" for name, wait in zip(chosen, kept[way], strict=True))
        print(f"{way}: {cut} images; {times.ms()} a step, loss {losses[way]:.4f}; waits {told}", flush=True)
    if args.repeats > 1:
        judge(args, chosen, seconds, kept, taken.beside())


def medians(waits: list[Any], repeats: int, steps: int) -> list[verdict.Repeats]:
    """The median wait of each replica in each repeat, of the waits of all steps, the measured ones last."""
    measured = np.array(waits[-repeats * steps :]).reshape(repeats, steps, -1)
    return [verdict.Repeats(tuple(map(float, replica))) for replica in np.median(measured, axis=1).T]


def judge(
    args: Any,
    chosen: list[str],
    seconds: dict[str, verdict.Repeats],
    waits: dict[str, list[verdict.Repeats]],
    beside: str,
) -> None:
    """Print whether the step waits for the slowest replica, and whether weighted shares remove the wait.

    `beside` is what to say of the machine's other work.
    """
    injected = (
        f"with an injected pause of {args.pause_us} us an image, {args.slowdown} times that on {chosen[-1]}"
    )
    stand_ins = all(name.startswith("cpu:") for name in chosen)
    cores = len(os.sched_getaffinity(0))
    where = (
        f". The devices are threads of one processor with {cores} cores: the pauses take none of them, so "
        "this shows who waits for whom, and nothing of how fast such devices are"
        if stand_ins
        else ""
    ) + beside
    if "equal" in seconds and args.slowdown > 1:
        longer = measure.ratio(seconds["equal"], seconds[EVEN])
        verdict.say_longer(
            [longer],
            f"{injected}, a step with equal shares took {longer.ratio()} as long as without a slow replica, "
            f"{seconds['equal'].ms()}, and {chosen[0]} waited {waits['equal'][0].ms()} of it{where}",
        )
    if args.split == "both":
        shorter = measure.ratio(seconds["equal"], seconds["weighted"])
        longest = [max(each) for each in zip(*(wait.values for wait in waits["weighted"]), strict=True)]
        left = measure.ratio(verdict.Repeats(tuple(longest)), seconds["weighted"])
        gone = left.median < LEFT and shorter.share_above(1 + verdict.NEGLIGIBLE) >= verdict.MOST
        verdict.decide(
            gone,
            left.share_above(LEFT) == 1 or shorter.share_above(1) == 0,
            f"{injected}, a step with equal shares took {shorter.ratio()} as long as one with weighted "
            f"shares, {seconds['weighted'].ms()}, of which {left.told('%', 100)} was the longest wait{where}",
        )


if __name__ == "__main__":
    main()
