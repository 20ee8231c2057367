"""A decorator puts each stage of a model on its card; loss and gradients have none.

https://github.com/tensorflow/tensorflow/issues/44510: scopes around the parts of a model, and what stands
outside of them.

An expert: the loss runs on the default device, because its line stands outside of the decorated stages. So do
all backward ops, at the line that asks for the gradients.
"""

import functools

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


def on(device):
    def decorate(stage):
        @functools.wraps(stage)
        def placed(*args):
            with tf.device(device):
                return stage(*args)

        return placed

    return decorate


with tf.device("CPU:1"):
    w1 = tf.Variable(tf.random.normal((32, 64)))
    x = tf.random.normal((16, 32))
with tf.device("CPU:2"):
    w2 = tf.Variable(tf.random.normal((64, 64)))


@on("CPU:1")
def encode(x):
    return tf.nn.relu(x @ w1)


@on("CPU:2")
def decode(hidden):
    return hidden @ w2  # expect: info explicit


optimizer = tf.keras.optimizers.SGD(0.01)
for _ in range(12):
    with tf.GradientTape() as tape:
        decoded = decode(encode(x))
        loss = tf.reduce_mean(tf.square(decoded))  # expect: default-device
    grads = tape.gradient(loss, [w1, w2])  # expect: gradient-outside-scope; may: default-device
    optimizer.apply_gradients(zip(grads, [w1, w2]))  # may: gradient-outside-scope, default-device
