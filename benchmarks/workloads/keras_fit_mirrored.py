"""Keras fit over two stand-ins, the last batch smaller than the others: its batches cross in branches.

Prints the time of each step, and what all steps that were timed took of the CPU.
"""

# mypy: allow-subclassing-any

import itertools
import json
import os
import time

import stopwatch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import numpy as np
import tensorflow as tf

BATCH = 16
host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.keras.utils.set_random_seed(0)
warmup, steps = stopwatch.steps()
rows = (warmup + steps) * BATCH - BATCH // 2 - 3
features = np.random.default_rng(0).normal(size=(rows, 64)).astype("float32")
labels = np.arange(rows) % 10


class Ends(tf.keras.callbacks.Callback):
    """When each batch ended, and the CPU time at the end of the warm-up."""

    times: list[int] = []  # noqa: RUF012 - one instance
    cpu_ns = 0

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        """Note the time."""
        self.times.append(time.perf_counter_ns())
        if batch == warmup - 1:
            self.cpu_ns = time.process_time_ns()


strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.Input((64,)), tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(10)]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, jit_compile=False)
ends = Ends()
model.fit(features, labels, batch_size=BATCH, epochs=1, verbose=0, callbacks=[ends])
cpu_ns = time.process_time_ns() - ends.cpu_ns
times = [end - begin for begin, end in itertools.pairwise(ends.times[warmup - 1 :])]
print(json.dumps({"times": times, "cpu_ns": cpu_ns}), flush=True)
