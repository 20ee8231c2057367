"""Eager ops that cross devices, uploads, and every way to take a value."""

import threading

import numpy as np
import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    a = tf.fill([10, 10], 1.0)
for _ in range(300):
    b = a + tf.ones([10, 10])  # line 14: the copy of `a` is kept beside it, so it crosses once
with tf.device("CPU:2"):
    c = tf.constant(np.ones([4, 5], np.float32))  # line 16: an upload
with tf.device("CPU:1"):
    d = tf.add(c, 1.0)  # line 18
float(tf.reduce_sum(d))  # line 19
bool(d[0, 0] > 0)  # line 20
c.numpy()  # line 21
np.asarray(d)  # line 22
np.mean(d)  # line 23
print(c)  # line 24


def work():
    with tf.device("CPU:2"):
        tf.square(a)  # line 29


threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
    thread.join()


@tf.function
def calls_python(x):
    def add(v):
        with tf.device("CPU:1"):
            return v + 1.0  # line 42

    return tf.py_function(add, [x], tf.float32)


calls_python(tf.ones([6]))


@tf.function(jit_compile=True)
def compiled(x):
    return tf.sin(x) * 2.0


compiled(tf.ones([4]))

with tf.device("CPU:1"):
    near = tf.Variable(tf.ones([4, 4]), name="near")
    rows = tf.ones([2, 4])
with tf.device("CPU:2"):
    far = tf.Variable(tf.ones([4, 4]), name="far")
with tf.device("CPU:1"):
    for values in (near, np.ones([4, 4], np.float32)):
        tf.raw_ops.MatMul(a=rows, b=values)  # line 64: TensorFlow's C code reads or converts it by itself
    tf.concat([near, far], 0)  # line 65
    tf.matmul(rows, far)  # line 66
rows.cpu()  # line 67


def gap(left, right):
    return np.float32(np.abs(left.numpy() - right.numpy()).max())  # line 71


@tf.function
def compares(left, right):
    with tf.device("CPU:1"):
        left, right = left * 2.0, right * 2.0
        return tf.py_function(gap, [left[:, 0], right[:, 0]], tf.float32)


for _ in range(3):
    compares(rows, rows)

with tf.device("CPU:1"):
    numbers = tf.range(4, dtype=tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(numbers, numbers), -1)
with tf.device("CPU:2"):
    keys = tf.range(4, dtype=tf.int64)
    found = table.lookup(keys)  # line 89: runs where the table lives
    kept = found + keys  # line 90: what came out of the table
    near.assign_add(tf.ones([4, 4]))  # line 91: runs where the variable lives
near.assign_sub(tf.ones([4, 4]))  # line 92: nothing is asked for
near.assign(far + 1.0)  # line 93: the sum is made where ops go by default


@tf.function
def score():
    with tf.device("CPU:1"):
        return tf.reduce_sum(rows * 3.0)


for _ in range(8):
    if score() < 0.0:  # line 103: compared where ops go by default, the value lies on cpu:1
        break

with tf.device("CPU:1"), tf.GradientTape() as tape:
    tape.watch(rows)
    mean = tf.reduce_mean(rows)
tape.gradient(mean, rows)  # line 109: TensorFlow itself looks at the axes


@tf.function
def measures(left):
    return tf.py_function(lambda one: one.numpy().max(), [left], tf.float32)  # line 114: where it is called


with tf.device("CPU:1"):
    for _ in range(3):
        measures(rows)
