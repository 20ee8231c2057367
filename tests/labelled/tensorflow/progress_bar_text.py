"""A progress bar's text is formatted from the loss tensor in each batch.

https://github.com/tqdm/tqdm/issues/266: `t.set_description('ML (loss=%g)' % loss)`.

An expert: formatting takes the value, in each batch, at the line of the text.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Bar:
    def __init__(self, total):
        self.total, self.text = total, ""

    def set_description(self, text):
        self.text = text


with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build([w])


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss


bar = Bar(12)
for _ in range(bar.total):
    loss = train_step(x, y)
    bar.set_description(f"ML (loss={loss:.4f})")  # expect: host-sync
