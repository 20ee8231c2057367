"""A GAN's two networks are of one class of layers, each for a card of its own; one of them is made without a scope.

https://github.com/tensorlayer/SRGAN/issues/74 asks how to train generator and discriminator on different cards.

An expert: the discriminator's weights lie on the default device, and the second card reads them at each step, once
for the real and once for the made images; its gradients go back there. To be told where they are read, and once:
the class of layers is right, as is the optimizer's line, which works where the weights are. The lines that make
the discriminator's layers lack its scope.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
G_CARD, D_CARD = "/CPU:1", "/CPU:2"


class Dense(tf.Module):
    def __init__(self, size, units, act=tf.identity):
        super().__init__()
        self.w = tf.Variable(tf.random.normal([size, units], stddev=0.05), name="w")
        self.b = tf.Variable(tf.zeros([units]), name="b")
        self.act = act

    def __call__(self, x):
        return self.act(x @ self.w + self.b)  # expect: variable-home; may: explicit, host-upload


class Generator(tf.Module):
    def __init__(self):
        super().__init__()
        with tf.device(G_CARD):
            self.first = Dense(32, 128, tf.nn.relu)
            self.second = Dense(128, 256, tf.tanh)

    def __call__(self, z):
        with tf.device(G_CARD):
            return self.second(self.first(z))


class Discriminator(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = Dense(256, 128, tf.nn.leaky_relu)
        self.second = Dense(128, 1)

    def __call__(self, x):
        with tf.device(D_CARD):
            return self.second(self.first(x))


generator, discriminator = Generator(), Discriminator()
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
def train_discriminator(images, noise):
    made = generator(noise)
    with tf.device(D_CARD):
        with tf.GradientTape() as tape:
            real, fake = discriminator(images), discriminator(made)
            loss = tf.reduce_mean(tf.nn.softplus(-real)) + tf.reduce_mean(tf.nn.softplus(fake))
        grads = tape.gradient(loss, discriminator.trainable_variables)  # may: variable-home
    optimizer.apply_gradients(zip(grads, discriminator.trainable_variables))
    return loss


with tf.device(G_CARD):
    noise = [tf.random.normal((64, 32)) for _ in range(12)]
with tf.device(D_CARD):
    images = tf.random.normal((64, 256))
losses = [train_discriminator(images, one) for one in noise]
print(round(float(losses[-1]), 3))
