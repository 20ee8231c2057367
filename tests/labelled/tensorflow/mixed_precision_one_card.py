"""A custom loop with float16 and a LossScaleOptimizer, all on one card.

https://github.com/keras-team/keras/issues/19479: `scale_loss` and `apply_gradients` are all there is to it in
Keras 3.

An expert: the optimizer looks at the gradients on the card itself, and Python waits for nothing. No fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((64, 8)))
    optimizer = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.SGD(0.01))
    optimizer.build([w])
    x = tf.random.normal((16, 64))


@tf.function
def train_step(x):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            half = tf.matmul(tf.cast(x, tf.float16), tf.cast(w, tf.float16))
            loss = tf.reduce_mean(tf.square(tf.cast(half, tf.float32)))
            scaled = optimizer.scale_loss(loss)
        optimizer.apply_gradients([(tape.gradient(scaled, w), w)])


for _ in range(12):
    train_step(x)
