"""A student learns from a teacher on the other card, whose logits come over through Python.

https://github.com/tensorflow/tensorflow/issues/17339: "Fetching array from tensorflow, then feeding it back in".

An expert: `.numpy()` waits for the teacher in each step and `tf.constant` sends its result up again: one round
trip over Python, where the tensor itself could be used. (It was labelled as its two halves at first, before it
was known that the tool can tell that they are one.)
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    teacher = tf.Variable(tf.random.normal((32, 10)))
with tf.device("CPU:2"):
    student = tf.Variable(tf.random.normal((32, 10)))


@tf.function
def teach(x):
    with tf.device("CPU:1"):
        return tf.matmul(x, teacher)


@tf.function
def learn(x, wanted):
    with tf.device("CPU:2"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, student) - wanted))
        student.assign_sub(0.1 * tape.gradient(loss, student))


xs = []
for device in ("CPU:1", "CPU:2"):
    with tf.device(device):
        xs.append(tf.ones((64, 32)))
for _ in range(12):
    with tf.device("CPU:1"):
        logits = teach(xs[0]).numpy()  # expect: bounce; may: host-sync
    with tf.device("CPU:2"):
        learn(xs[1], tf.constant(logits))  # may: host-upload, bounce
