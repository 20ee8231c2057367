"""A batch is shuffled inside the training step, in the scope of a card that this machine need not have.

https://github.com/tensorflow/tensorflow/issues/6269: tf.random_shuffle has no kernel for GPUs, "no supported
kernel for GPU devices is available" with an explicit device and soft placement off.

case: preflight

An expert: with soft placement the shuffle runs on the host, so the features go down and come back in each step.
"""

import tensorflow as tf

with tf.device("/GPU:0"):
    w = tf.Variable(tf.random.normal((64, 10)), name="w")
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(x):
    with tf.device("/GPU:0"):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(x * 2.0)
            negatives = tf.random.shuffle(hidden)  # expect: no-kernel
            loss = tf.reduce_mean(tf.matmul(hidden - tf.stop_gradient(negatives), w) ** 2)
        gradients = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(gradients, [w], strict=True))


with tf.device("/GPU:0"):
    features = tf.random.normal((256, 64))
for _ in range(8):
    train_step(features)
