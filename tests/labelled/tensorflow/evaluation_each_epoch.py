"""Training runs on the card; after each epoch the predictions are taken and scored with numpy.

https://www.technetexperts.com/unet-training-slow-optimization names the evaluation beside the syncs of the
loop; once an epoch it is what one does.

An expert: no fault. Three pulls in thirty steps.
"""

import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal((32, 4)))
    x = tf.random.normal((64, 32))
    y = tf.random.uniform((64,), maxval=4, dtype=tf.int64)
labels = y.numpy()


@tf.function
def logits(x):
    with tf.device("CPU:1"):
        return tf.matmul(x, w)


@tf.function
def train_step(x, y):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits(x))
            loss = tf.reduce_mean(losses)
        (grad,) = tape.gradient(loss, [w])
        w.assign_sub(0.1 * grad)


for epoch in range(3):
    for _ in range(10):
        train_step(x, y)
    guesses = np.argmax(logits(x).numpy(), axis=1)  # expect: info host-sync
    print(f"epoch {epoch}: {np.mean(guesses == labels):.2f}")
