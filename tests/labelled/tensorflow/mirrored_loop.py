"""A custom training loop under MirroredStrategy, as the guide has it.

https://github.com/tensorflow/tensorflow/issues/30855 is about such a loop, a custom subclassed model on
several cards.

An expert: the gradients are all-reduced in each step; that is what data parallelism costs. The loss is looked
at once, in the end.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

strategy = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
    model.build((None, 32))
    optimizer = tf.keras.optimizers.SGD(0.01)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def train_step(x, y):
    return strategy.reduce("MEAN", strategy.run(replica_step, args=(x, y)), axis=None)


dataset = tf.data.Dataset.from_tensors((tf.random.normal((16, 32)), tf.random.normal((16, 1)))).repeat(8)
for x, y in strategy.experimental_distribute_dataset(dataset):
    loss = train_step(x, y)
print("loss", loss.numpy())
