"""A loop that ends with OutOfRange, hops in a loop and a branch; prints the descriptors before and after."""

import json
import sys
from pathlib import Path

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 3)


def descriptors():
    """Where each descriptor points, without those that name a place in /proc."""
    found = {}
    for path in Path("/proc/self/fd").iterdir():
        try:
            found[path.name] = str(path.readlink())
        except OSError:
            continue
    return {name: where for name, where in found.items() if not where.startswith("/proc/")}


@tf.function
def until_the_end(iterator, total):
    while tf.constant(True):
        value = iterator.get_next()
        with tf.device("CPU:1"):
            value = value * 2.0
        with tf.device("CPU:2"):
            total = total + value
    return total


@tf.function
def turns(x):
    for turn in tf.range(6):
        with tf.device("CPU:1"):
            x = tf.tanh(x)
        if turn % 2 == 0:
            with tf.device("CPU:2"):
                x = x - 1.0
    return x


@tf.function
def once(x):
    return x + 1.0


once(tf.ones(4))
before = descriptors()
iterator = iter(tf.data.Dataset.from_tensor_slices(tf.ones((5, 4))))
try:
    until_the_end(iterator, tf.zeros(4))
except tf.errors.OutOfRangeError:
    print("the data ended", file=sys.stderr)
for _ in range(int(sys.argv[1])):
    turns(tf.ones((4, 4)))
    once(tf.ones(4))
after = descriptors()
print(json.dumps({"before": before, "after": after}))
