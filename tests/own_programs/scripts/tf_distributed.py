"""MirroredStrategy over logical devices: a step by hand and fit, with what they print."""

# frameworks: tensorflow
import keras
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
keras.utils.set_random_seed(1)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
data = tf.data.Dataset.from_tensor_slices((np.ones((256, 4), "float32"), np.ones((256, 1), "float32"))).batch(
    8
)
history = model.fit(data, epochs=8, verbose=2 if False else 0)
print([round(loss, 6) for loss in history.history["loss"]])


@tf.function
def step(inputs):
    def each(x):
        context = tf.distribute.get_replica_context()
        return context.all_reduce("sum", tf.reduce_sum(x))

    return strategy.reduce("sum", strategy.run(each, args=(inputs,)), axis=None)


print(step(tf.ones(3)).numpy())


@tf.function
def wrong(inputs):
    return strategy.run(lambda x: tf.matmul(x, x), args=(inputs,))


wrong(tf.ones((2, 3)))
