"""The loss is shown every tenth step.

https://thecodeforge.io/ml-ai/tensorflow-basics/: "only call .numpy() every N steps".

An expert: four values in forty steps are worth knowing, and no fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    x, y = tf.random.normal((64, 32)), tf.random.normal((64, 1))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.01 * grad)
    return loss


for step in range(40):
    loss = train_step(x, y)
    if step % 10 == 0:
        print(f"step {step}: {loss.numpy():.3f}")  # expect: info host-sync
