"""A strategy's custom loop over a distributed dataset, epoch by epoch, with a value taken once an epoch."""

import numpy as np
import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(CPU, [tf.config.LogicalDeviceConfiguration()] * 3)

strategy = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])
with strategy.scope():
    weights = tf.Variable(tf.ones([8, 1]))
    optimizer = tf.keras.optimizers.SGD(0.01)
examples = np.ones([48, 8], np.float32), np.ones([48, 1], np.float32)
dataset = tf.data.Dataset.from_tensor_slices(examples).batch(8)
batches = strategy.experimental_distribute_dataset(dataset)


@tf.function
def step(batch):
    def replica(batch):
        inputs, targets = batch
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((inputs @ weights - targets) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    return strategy.reduce("mean", strategy.run(replica, args=(batch,)), axis=None)


for _ in range(2):
    for batch in batches:  # line 31
        loss = step(batch)
    print(float(loss))
