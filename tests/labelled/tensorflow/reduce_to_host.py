"""MirroredStrategy is told to sum the gradients on the host.

https://github.com/tensorflow/tensorflow/issues/33809: "Reduce to /job:localhost/replica:0/task:0/device:CPU:0
then broadcast", and training is slower than on one device.

An expert: the optimizer's line sends all gradients to the host and back in each step, because of the
cross_device_ops that the strategy was given.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

strategy = tf.distribute.MirroredStrategy(
    ["CPU:1", "CPU:2"], cross_device_ops=tf.distribute.ReductionToOneDevice(reduce_to_device="/device:CPU:0")
)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
    model.build((None, 32))
    optimizer = tf.keras.optimizers.SGD(0.01)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))  # expect: reduce-on-host


@tf.function
def train_step(x, y):
    strategy.run(replica_step, args=(x, y))


dataset = tf.data.Dataset.from_tensors((tf.random.normal((16, 32)), tf.random.normal((16, 1)))).repeat(8)
for x, y in strategy.experimental_distribute_dataset(dataset):
    train_step(x, y)
