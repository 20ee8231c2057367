"""A head is trained quietly, then the whole network is tuned with the loss printed at each step.

https://www.tensorflow.org/guide/keras/transfer_learning: train the new layers, unfreeze, train all of it.

An expert: the second loop waits for each step's loss. That the first one does not, and that both together are
twice as many steps, changes nothing.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    base = tf.keras.Sequential([tf.keras.Input((16,)), tf.keras.layers.Dense(32, activation="relu")])
    head = tf.keras.layers.Dense(1)
    head.build((None, 32))
    features = tf.random.normal((32, 16))


def trainer(variables, rate):
    with tf.device("CPU:1"):
        optimizer = tf.keras.optimizers.SGD(rate)
        optimizer.build(variables)

    @tf.function
    def step():
        with tf.device("CPU:1"):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(head(base(features)) - 1.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

    return step


step = trainer(head.trainable_variables, 0.05)
for _ in range(40):
    with tf.device("CPU:1"):
        step()

step = trainer(base.trainable_variables + head.trainable_variables, 0.01)
for number in range(15):
    with tf.device("CPU:1"):
        loss = step()
    print("tuning", number, loss.numpy())  # expect: host-sync
