"""A model split over two cards; its gradients are taken outside both scopes.

https://github.com/tensorflow/tensorflow/issues/33688: "The forward pass is executed based on my device
placement. However, the tape.gradients execution happens only in GPU 0", and many transfers go there.

An expert: the backward ops are made where `tape.gradient` is called, and no scope is open there, so they
go to the default device. The activations that go from one half to the other were asked for.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w1 = tf.Variable(tf.random.normal((64, 128)))
with tf.device("CPU:2"):
    w2 = tf.Variable(tf.random.normal((128, 10)))
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        with tf.device("CPU:1"):
            hidden = tf.nn.relu(tf.matmul(x, w1))
        with tf.device("CPU:2"):
            logits = tf.matmul(hidden, w2)  # expect: info explicit
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, [w1, w2])  # expect: gradient-outside-scope
    optimizer.apply_gradients(zip(grads, [w1, w2]))
    return loss


with tf.device("CPU:1"):
    x = tf.random.normal((32, 64))
with tf.device("CPU:2"):
    y = tf.random.uniform((32,), maxval=10, dtype=tf.int64)
for _ in range(8):
    train_step(x, y)
