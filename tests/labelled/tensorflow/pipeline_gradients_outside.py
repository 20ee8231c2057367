"""A class spreads a list of layers over the cards in turn; its gradients are taken in a helper without scope.

https://github.com/tensorflow/tensorflow/issues/16328: "without specifying GPU device, tf.gradient will use the
gpu:0 .. if a node is explicitly attached to a GPU device, why the gradient can not be attached to the same".

An expert: all backward ops are made by the helper's line, outside of every scope, and stand on the default
device. That the layers' activations change cards was asked for.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Pipeline(tf.Module):
    def __init__(self, sizes, devices):
        super().__init__()
        self.layers = []
        for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
            device = devices[i % len(devices)]
            with tf.device(device):
                self.layers.append((device, tf.Variable(0.1 * tf.random.normal((inputs, outputs)))))

    def __call__(self, x):
        for device, w in self.layers:
            with tf.device(device):
                x = tf.nn.relu(tf.matmul(x, w))  # expect: info explicit
        return x


def minimize(tape, loss, variables, rate=0.01):
    grads = tape.gradient(loss, variables)  # expect: gradient-outside-scope
    for variable, grad in zip(variables, grads):
        variable.assign_sub(rate * grad)  # may: gradient-outside-scope


pipeline = Pipeline([32, 64, 64, 64, 8], ["CPU:1", "CPU:2"])
variables = [w for _, w in pipeline.layers]


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        outputs = pipeline(x)
        with tf.device("CPU:2"):
            loss = tf.reduce_mean(tf.square(outputs - y))
    minimize(tape, loss, variables)


with tf.device("CPU:1"):
    x = tf.random.normal((16, 32))
with tf.device("CPU:2"):
    y = tf.random.normal((16, 8))
for _ in range(8):
    train_step(x, y)
