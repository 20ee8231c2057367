"""Workers and parameter servers: ParameterServerStrategy, driven by a ClusterCoordinator.

Every process runs this same script, and TF_CONFIG tells it which one it is:

    chief   makes the model, whose variables are then on the servers, and hands out steps; computes none
    worker  computes the steps that it is given, one after the other
    ps      keeps variables, and updates them where they are

Worker and server do nothing of their own accord: they make a tf.distribute.Server and wait. They have to be
ended by whoever started them, once the chief is done.

What to expect: the variables are spread over the servers in turn, whole, so with two of them each has about
half of the model. Every step runs on one worker, forward, backward and all: it pulls every variable from the
servers, as many bytes as the weights have, and pushes as many bytes of gradients back, which the servers
apply. That is why it is called model parallelism and is none: variables are spread, computation is not.
More servers share that traffic out, and more workers mean more of it at a time.

Nobody waits for the others: a worker takes whatever the weights are by then, and two of them may compute from
the same. So two runs differ, however they are seeded. Where the loss is read, the chief waits for all steps
that it has handed out; otherwise it runs ahead of the workers.

Keras 3 cannot fit under this strategy, so the loop is one of one's own. XLA cannot compile a step that reads
variables of another process. Without GPUs a worker would compute
on its host, cpu:0; here it does so on its stand-ins.
"""

# mypy: allow-untyped-decorators

import argparse
import signal
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
    parser = devices.parser("tf-parameter-server", __doc__)
    parser.add_argument(
        "--loop",
        choices=("custom", "fit"),
        default="custom",
        help="a loop of one's own; Keras fit is not possible here (default: custom)",
    )
    return parser


def main() -> None:
    """Serve, or be the chief, who trains and says how well."""
    parser = options()
    args = devices.parse(parser)
    task = devices.tf_config(parser, {"ps": 1, "worker": 1, "chief": 1})["task"]
    if args.loop == "fit":
        parser.error("--loop fit is not possible: Keras 3 cannot fit under ParameterServerStrategy")
    if args.jit_compile == "on":
        parser.error("--jit-compile on is not possible: XLA reads no variable of another process")
    if task["type"] == "chief":
        train(parser, args)
    else:
        serve(parser, args, task["type"])


def serve(parser: devices.Parser, args: argparse.Namespace, role: str) -> None:
    """Do what the chief says, until somebody ends this process."""
    import tensorflow as tf

    # A server makes its own devices, whatever tf.config says.
    config = tf.compat.v1.ConfigProto(device_count={"GPU": 0})
    if role == "worker":
        config = devices.server_config(parser, args)
    # Asked to end, it ends well. Its join() would never hear of it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    server = tf.distribute.Server(
        resolver.cluster_spec(), resolver.task_type, resolver.task_id, protocol="grpc", config=config
    )
    print(f"{resolver.task_type} {resolver.task_id} serves at {server.target}", flush=True)
    while True:
        signal.pause()


def train(parser: devices.Parser, args: argparse.Namespace) -> None:
    """Have the workers train, and say how well."""
    import tensorflow as tf

    # The chief computes nothing. Which devices the workers have, it is told.
    tf.config.set_visible_devices([], "GPU")
    devices.use_stand_ins_of_workers(args)
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    cluster = resolver.cluster_spec().as_dict()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    devices.stop_tuning()
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    replicas = strategy.num_replicas_in_sync
    devices.check_batch(parser, args.batch, replicas)
    share = args.batch // replicas

    images, labels, source = digits.load(args.data)
    count = len(images) - digits.held_out(images)
    seeded = tf.keras.initializers.GlorotUniform
    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.Input(images.shape[1:]),
                tf.keras.layers.Dense(args.width, "relu", kernel_initializer=seeded(args.seed)),
                tf.keras.layers.Dense(args.width, "relu", kernel_initializer=seeded(args.seed + 1)),
                tf.keras.layers.Dense(10, kernel_initializer=seeded(args.seed + 2)),
            ]
        )
        optimizer = tf.keras.optimizers.SGD(LEARNING_RATE)
        optimizer.build(model.trainable_variables)

    def own_images(context: Any) -> Any:
        # Made on each worker. Without a seed, or all workers would go through the images in the same order.
        dataset = tf.data.Dataset.from_tensor_slices((images[:count], labels[:count]))
        return dataset.shuffle(count).repeat().batch(share, drop_remainder=True)

    def loss_and_gradients(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / (share * replicas)
        return loss, tape.gradient(loss, model.trainable_variables)

    def replica_step(images: Any, labels: Any) -> Any:
        loss, gradients = loss_and_gradients(images, labels)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function
    def train_step(batches: Any) -> Any:
        losses = strategy.run(replica_step, args=next(batches))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    homes = Counter(home(variable) for variable in model.trainable_variables)
    print(
        f"{len(cluster['worker'])} workers, {replicas} replicas in each, {share} images a replica and step; "
        f"variables: {', '.join(f'{number} on {place}' for place, number in sorted(homes.items()))}; "
        f"{count} {source}",
        flush=True,
    )
    batches = iter(
        coordinator.create_per_worker_dataset(lambda: strategy.distribute_datasets_from_function(own_images))
    )
    watch = progress.Progress(args.steps, args.log_every)
    for step in range(1, args.steps + 1):
        loss = coordinator.schedule(train_step, args=(batches,))
        if watch.due(step):
            coordinator.join()  # until all that was handed out has been done
            watch.report(step, float(loss.fetch()))

    predictions = np.argmax(model(images[count:]), axis=1)
    accuracy = np.mean(predictions == labels[count:])
    print(f"accuracy {accuracy:.3f} on {len(predictions)} held-out digits", flush=True)


def home(variable: Any) -> str:
    """The process and device that a variable lives on: ps:0/cpu:0. Keras 3 wraps TensorFlow's variable."""
    device: str = variable.device if hasattr(variable, "device") else variable.value.device
    parts = dict(part.split(":", 1) for part in device.strip("/").split("/"))
    return f"{parts['job']}:{parts['task']}/{parts['device'].lower()}"


if __name__ == "__main__":
    main()
