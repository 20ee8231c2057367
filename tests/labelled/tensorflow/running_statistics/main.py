"""Observations are normalised by running statistics of another module, an object that is made before the scope.

https://github.com/StepNeverStop/RLs/pull/15 is about such normalisation between host and card.

An expert: mean and variance lie on the default device, and the card reads them at each step, where they are
updated and where they are used. One mistake: the object is made outside of the scope. To be told where most is
read.
"""

import tensorflow as tf
from running import RunningMeanStd

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)
CARD = "/CPU:1"
OBS = 256

stats = RunningMeanStd(OBS)
with tf.device(CARD):
    gen = tf.random.Generator.from_seed(0)
    net = tf.keras.Sequential(
        [tf.keras.Input((OBS,)), tf.keras.layers.Dense(32, "tanh"), tf.keras.layers.Dense(2)]
    )
    opt = tf.keras.optimizers.Adam(1e-3)
    opt.build(net.trainable_variables)


@tf.function
def train(obs):
    with tf.device(CARD):
        stats.update(obs)
        x = stats.normalize(obs)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - x[:, :2]) ** 2)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss


for i in range(12):
    with tf.device(CARD):
        loss = train(gen.normal([16, OBS], 3.0, 2.0))
print(float(loss))
