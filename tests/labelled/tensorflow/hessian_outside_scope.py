"""Sharpness of the minimum: Hessian-vector products by two tapes; the outer gradient stands outside the scope.

https://github.com/tensorflow/tensorflow/issues/54460: gradients run where tape.gradient is called.

An expert: the second backward pass runs on the default device. What the forward pass made and the data, which
the gradient reads, go there, and its result comes back to where the next line works: one mistake, mended by
a scope around tape.gradient.
"""

import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
CARD = "/CPU:1"
with tf.device(CARD):
    weight = tf.Variable(tf.random.stateless_normal([40, 40], [0, 1]) * 0.1)
    data = tf.random.stateless_normal([64, 40], [0, 2])
    vector = tf.random.stateless_normal([40, 40], [0, 3])


@tf.function
def hessian_times(v):
    with tf.GradientTape() as outer:
        with tf.device(CARD):
            with tf.GradientTape() as inner:
                loss = tf.reduce_mean(tf.tanh(data @ weight) ** 2)
            grad = inner.gradient(loss, weight)
            dot = tf.reduce_sum(grad * v)
    return outer.gradient(dot, weight)  # expect: gradient-outside-scope


@tf.function
def power_step(v):
    h = hessian_times(v)
    with tf.device(CARD):
        return h / tf.norm(h), tf.reduce_sum(h * v)


for i in range(12):
    vector, top = power_step(vector)
print("largest eigenvalue", float(top))
