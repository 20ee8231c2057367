"""Two towers on two cards share the variables of the host, as in the multi-GPU CIFAR-10 example.

https://github.com/tensorflow/tensorflow/issues/15351: "the model params have to transfer from CPU to GPU
whenever GPU calls for these params"; https://github.com/tensorflow/tensorflow/issues/4881: keeping them there
"actually hurt performance".

An expert: each tower reads the variables away from where they live, in each step, at the two lines that use
them. The gradients meet on the host because the code says so: they are summed there, for variables that the
towers read from there again.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

DEVICES = ["CPU:1", "CPU:2"]
with tf.device("CPU:0"):
    w1 = tf.Variable(tf.random.normal((32, 64)))
    w2 = tf.Variable(tf.random.normal((64, 1)))


def tower_loss(x, y):
    hidden = tf.nn.relu(tf.matmul(x, w1))  # expect: variable-home
    return tf.reduce_mean(tf.square(tf.matmul(hidden, w2) - y))  # expect: variable-home


def average(tower_grads):
    return [tf.add_n(grads) / len(grads) for grads in zip(*tower_grads)]  # expect: reduce-on-host


@tf.function
def train_step(batches):
    tower_grads = []
    for device, (x, y) in zip(DEVICES, batches):
        with tf.device(device):
            with tf.GradientTape() as tape:
                loss = tower_loss(x, y)
            tower_grads.append(tape.gradient(loss, [w1, w2]))  # may: variable-home
    with tf.device("CPU:0"):
        for variable, grad in zip([w1, w2], average(tower_grads)):
            variable.assign_sub(0.01 * grad)


batches = []
for device in DEVICES:
    with tf.device(device):
        batches.append((tf.random.normal((16, 32)), tf.random.normal((16, 1))))
for _ in range(8):
    train_step(batches)
