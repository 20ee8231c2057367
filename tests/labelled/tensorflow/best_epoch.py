"""Early stopping: the validation loss is gathered on the card and taken once an epoch.

https://github.com/keras-team/keras/issues/4848 is about stopping early; this one asks once an epoch.

An expert: no fault.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 1)))
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build([w])
    train = [(tf.random.normal((16, 32)), tf.random.normal((16, 1))) for _ in range(8)]
    held_out = [(tf.random.normal((16, 32)), tf.random.normal((16, 1))) for _ in range(3)]


def loss_of(x, y):
    return tf.reduce_mean(tf.square(tf.matmul(x, w) - y))


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = loss_of(x, y)
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])


@tf.function
def validate(batches):
    with tf.device("CPU:1"):
        return tf.add_n([loss_of(x, y) for x, y in batches]) / len(batches)


best = float("inf")
for epoch in range(3):
    for x, y in train:
        train_step(x, y)
    loss = float(validate(held_out))  # expect: info host-sync
    if loss > best:
        break
    best = loss
