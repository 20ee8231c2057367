"""Summaries "every tenth step" by record_if, whose condition counts on the card.

https://github.com/tensorflow/tensorflow/issues/26225 has steps that pay for summaries which they do not record.

An expert: tf.summary.write asks for the condition in Python, so each step takes it from the card, also the nine
that write nothing. Decide by a number of Python's. A second "every ten" around the call writes nothing at all:
the counter is one ahead of the loop.
"""

import tempfile

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 64), stddev=0.05))
    count = tf.Variable(0, dtype=tf.int64)


@tf.function
def train_step(x):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - x))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.05 * grad)
        count.assign_add(1)
    return loss


with tempfile.TemporaryDirectory() as folder:
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default(), tf.summary.record_if(lambda: tf.equal(count % 10, 0)):
        for step in range(20):
            with tf.device("CPU:1"):
                loss = train_step(tf.random.normal((16, 64)))
                tf.summary.write("loss", loss, step=step)  # expect: host-sync; may: explicit
    writer.close()
