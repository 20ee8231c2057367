"""Trains over local processes that it starts itself: `workers` (mirrored) or `servers` (parameter servers).

Nothing random is in its steps, and no worker ever waits for input, so that two runs of it do the same.
"""

# mypy: allow-untyped-decorators

import json
import os
import random
import socket
import subprocess
import sys
from typing import Any

STEPS = 6
INPUTS, OUTPUTS, BATCH = 8, 4, 16
ROLES = {"workers": {"worker": 2}, "servers": {"ps": 2, "worker": 2, "chief": 1}}


def free_port() -> socket.socket:
    """A port that is held; below those of outgoing connections, which could take it before its process."""
    while True:
        held = socket.socket()
        try:
            held.bind(("127.0.0.1", random.randrange(20000, 32768)))
        except OSError:
            held.close()
        else:
            return held


def start_all(kind: str) -> None:
    """Start a process a task, the chief last; the run is over when those that train are."""
    holders = {role: [free_port() for _ in range(number)] for role, number in ROLES[kind].items()}
    cluster = {role: [f"127.0.0.1:{one.getsockname()[1]}" for one in held] for role, held in holders.items()}
    for held in holders.values():
        for one in held:
            one.close()
    started = []
    for role, addresses in cluster.items():
        for index in range(len(addresses)):
            task = {"cluster": cluster, "task": {"type": role, "index": index}}
            environment = {**os.environ, "TF_CONFIG": json.dumps(task)}
            started.append((role, subprocess.Popen([sys.executable, __file__, kind], env=environment)))
    trains = "worker" if kind == "workers" else "chief"
    status = max(process.wait() for role, process in started if role == trains)
    for role, process in started:
        if role != trains:
            process.terminate()
            process.wait()
    sys.exit(status)


def variables(tf: Any) -> list[Any]:
    weights = tf.Variable(tf.ones((INPUTS, OUTPUTS)), name="weights")
    return [weights, tf.Variable(tf.zeros(OUTPUTS), name="bias")]


def images(tf: Any) -> Any:
    return tf.data.Dataset.from_tensors(tf.ones((BATCH, INPUTS))).repeat()


def gradients(tf: Any, batch: Any, weights: Any, bias: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((batch @ weights + bias) ** 2)
    return loss, tape.gradient(loss, [weights, bias])


def apply(own: list[Any], steps: list[Any]) -> None:
    for variable, step in zip(own, steps, strict=True):
        variable.assign_sub(0.01 * step)


def mirrored() -> None:
    import tensorflow as tf

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        own = variables(tf)

    def replica_step(batch: Any) -> Any:
        loss, steps = gradients(tf, batch, *own)
        summed = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, steps)
        apply(own, summed)
        return loss

    @tf.function
    def step() -> Any:
        return strategy.run(replica_step, args=(tf.ones((BATCH, INPUTS)),))

    for _ in range(STEPS):
        step()


def served() -> None:
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type != "chief":
        tf.distribute.Server(resolver.cluster_spec(), resolver.task_type, resolver.task_id).join()
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        own = variables(tf)

    @tf.function
    def step(batches: Any, scale: Any) -> Any:
        def replica_step(batch: Any) -> Any:
            loss, steps = gradients(tf, scale * batch, *own)
            apply(own, steps)
            return loss

        return strategy.run(replica_step, args=(next(batches),))

    batches = iter(coordinator.create_per_worker_dataset(lambda: images(tf)))
    scale = tf.constant([1.0])
    for _ in range(STEPS):
        loss = coordinator.schedule(step, args=(batches, scale))
    coordinator.join()
    # As one write: where Python does not buffer, print() makes two, and what the others say comes between.
    sys.stdout.write(f"loss {float(loss.fetch()):.4f}\n")
    sys.stdout.flush()


if "TF_CONFIG" not in os.environ:
    start_all(sys.argv[1])
elif sys.argv[1] == "workers":
    mirrored()
else:
    served()
