"""Keras fit on the handwritten digits, on one stand-in: the time from one batch's end to the next one's."""

# mypy: allow-subclassing-any

import itertools
import json
import os
import sys
import time
from pathlib import Path

import stopwatch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
sys.path.append(str(Path(__file__).resolve().parents[2] / "runners" / "programs" / "helpers"))

import tensorflow as tf
from shared import digits

host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 2)
tf.keras.utils.set_random_seed(0)
images, labels, _ = digits.load()
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(64).prefetch(4)
warmup, steps = stopwatch.steps()


class Ends(tf.keras.callbacks.Callback):
    """When each batch ended."""

    times: list[int] = []  # noqa: RUF012 - one instance

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        """Note the time."""
        self.times.append(time.perf_counter_ns())


with tf.device("cpu:1"):
    model = tf.keras.Sequential(
        [
            tf.keras.Input(images.shape[1:]),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, jit_compile=False)
    model.fit(dataset, steps_per_epoch=warmup + steps, verbose=0, callbacks=[Ends()])

ends = Ends.times[warmup - 1 :]
print(json.dumps([end - begin for begin, end in itertools.pairwise(ends)]), flush=True)
