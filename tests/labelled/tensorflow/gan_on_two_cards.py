"""A GAN whose generator is on one card and its discriminator on another; the generator's step is called in a scope.

https://github.com/tensorlayer/SRGAN/issues/74 asks how to train the two on different cards.

An expert: the generator's step is called in the generator's scope, so the gradients of the discriminator's ops
are computed there too, and its weights and activations come over for them in each step. The generator's own
gradients belong there: no one scope is right for the line, each network's part wants a tape of its own. What the
generator makes goes to the discriminator and its gradient comes back, as it must.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
G_CARD, D_CARD = "/CPU:1", "/CPU:2"


class Network(tf.Module):
    def __init__(self, card, *sizes):
        super().__init__()
        self.card = card
        with tf.device(card):
            self.layers = [tf.Variable(tf.random.normal(size, stddev=0.1)) for size in zip(sizes, sizes[1:])]

    def __call__(self, x):
        with tf.device(self.card):
            for kernel in self.layers[:-1]:
                x = tf.nn.leaky_relu(x @ kernel)
            return x @ self.layers[-1]  # may: explicit


generator, discriminator = Network(G_CARD, 16, 128, 256), Network(D_CARD, 256, 128, 1)


def adversarial(logits, real):
    labels = tf.ones_like(logits) if real else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))


def descend(network, grads):
    for variable, grad in zip(network.trainable_variables, grads):
        variable.assign_sub(0.05 * grad)


@tf.function
def train_discriminator(images, noise):
    fake = generator(noise)
    with tf.device(D_CARD):
        with tf.GradientTape() as tape:
            loss = adversarial(discriminator(images), True) + adversarial(discriminator(fake), False)
        descend(discriminator, tape.gradient(loss, discriminator.trainable_variables))
        return loss


@tf.function
def train_generator(noise):
    with tf.GradientTape() as tape:
        logits = discriminator(generator(noise))
        with tf.device(D_CARD):
            loss = adversarial(logits, True)
    grads = tape.gradient(loss, generator.trainable_variables)  # expect: gradient-outside-scope
    descend(generator, grads)
    return loss


with tf.device(D_CARD):
    images = tf.random.normal((64, 256))
losses = []
for _ in range(12):
    with tf.device(G_CARD):
        noise = tf.random.normal((64, 16))
        losses += [train_discriminator(images, noise), train_generator(noise)]
print([round(float(loss), 3) for loss in losses[-2:]])
