"""A function with a loop and a branch in it, whose tensors cross between two stand-ins in both."""

# mypy: allow-untyped-decorators

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import stopwatch
import tensorflow as tf

host = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(host, [tf.config.LogicalDeviceConfiguration()] * 3)
trips = tf.constant(20)
state = tf.random.normal((64, 64))


@tf.function
def step(state: tf.Tensor, trips: tf.Tensor) -> tf.Tensor:
    """Twenty turns, half of which take the branch."""
    for turn in tf.range(trips):
        with tf.device("CPU:1"):
            state = tf.tanh(tf.matmul(state, state))
        if turn % 2 == 0:
            with tf.device("CPU:2"):
                state = state - 1.0
    return state


stopwatch.run(lambda: step(state, trips))
