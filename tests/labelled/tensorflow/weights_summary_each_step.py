"""All weights are written as a summary in each step, the loss too.

https://github.com/sherjilozair/char-rnn-tensorflow/issues/112: "Histogram summaries involve transferring a lot
of data from the GPU to the CPU"; https://github.com/tensorflow/tensorflow/issues/32157 has the
scalars.

An expert: summaries are written on the host, so the second one reads the whole matrix from the card in each
step: write it every hundred steps. The loss is four bytes that the summary asked for.
"""

import tempfile

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((256, 64)))
    x, y = tf.random.normal((16, 256)), tf.random.normal((16, 64))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    return loss


with tempfile.TemporaryDirectory() as folder:
    writer = tf.summary.create_file_writer(folder)
    with writer.as_default():
        for step in range(8):
            loss = train_step(x, y)
            tf.summary.write("loss", loss, step=step)  # may: explicit, host-sync
            tf.summary.write("w", w, step=step)  # expect: variable-home; may: explicit
    writer.close()
