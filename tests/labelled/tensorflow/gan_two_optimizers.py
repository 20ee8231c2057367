"""A GAN's two networks train in turn in one step, each with its optimizer, on one card.

https://github.com/tensorflow/tensorflow/issues/32157 is about the DCGAN tutorial's loop.

An expert: all of it is on the card, and the losses are looked at after an epoch. No fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


def network(*units):
    return tf.keras.Sequential([tf.keras.layers.Dense(unit, activation="tanh") for unit in units])


def adversarial(logits, real):
    labels = tf.ones_like(logits) if real else tf.zeros_like(logits)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))


with tf.device("CPU:1"):
    generator, discriminator = network(32, 16), network(32, 1)
    generator.build((None, 8))
    discriminator.build((None, 16))
    optimizers = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
    optimizers[0].build(generator.trainable_variables)
    optimizers[1].build(discriminator.trainable_variables)
    batches = [tf.random.normal((16, 16)) for _ in range(6)]


@tf.function
def train_step(images):
    with tf.GradientTape() as of_generator, tf.GradientTape() as of_discriminator:
        made = generator(tf.random.normal((16, 8)), training=True)
        real, fake = discriminator(images, training=True), discriminator(made, training=True)
        losses = adversarial(fake, True), adversarial(real, True) + adversarial(fake, False)
    for tape, loss, model, optimizer in zip(
        (of_generator, of_discriminator), losses, (generator, discriminator), optimizers
    ):
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return losses


for epoch in range(2):
    for images in batches:
        with tf.device("CPU:1"):
            losses = train_step(images)
    print(epoch, [round(float(loss), 3) for loss in losses])  # expect: info host-sync
