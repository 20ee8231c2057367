"""Python asserts in each step that all activations are finite.

https://github.com/tensorflow/tensorflow/issues/2594 wanted tf.assert to run on the GPU.

An expert: assert takes a bool from the card, in each step.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 8)))
    x = tf.random.normal((16, 32))
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build([w])

for _ in range(12):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            activations = tf.nn.softplus(tf.matmul(x, w))
            loss = tf.reduce_mean(activations)
        assert tf.reduce_all(tf.math.is_finite(activations)), "not finite"  # expect: host-sync
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
