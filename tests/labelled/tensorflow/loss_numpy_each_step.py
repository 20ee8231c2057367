"""A custom training loop that takes the loss to Python twice in each step.

https://www.technetexperts.com/unet-training-slow-optimization: `losses.append(loss.numpy())` and
`progress.set_postfix(..loss.numpy())` in each batch, and a GPU that is hardly used.

An expert: both lines wait for the device in each step; the evaluation after the loop does not matter.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


class Progress:
    def set_postfix(self, values):
        self.shown = values


def train(model, optimizer, batches):
    losses = []
    progress = Progress()

    @tf.function
    def step(x, y):
        with tf.device("CPU:1"):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for x, y in batches:
        loss = step(x, y)
        losses.append(loss.numpy())  # expect: host-sync
        progress.set_postfix({"batch_loss": loss.numpy()})  # expect: host-sync
    return losses


with tf.device("CPU:1"):
    model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)])
    model.build((None, 16))
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    data = [(tf.random.normal((8, 16)), tf.random.normal((8, 1))) for _ in range(8)]
losses = train(model, optimizer, data)
print("last", losses[-1])
