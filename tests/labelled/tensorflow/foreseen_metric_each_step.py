"""A script without any device takes its loss to Python in each step.

https://github.com/tensorflow/tensorflow/issues/33835 asks where tensors go that name no device: to the card, but
int32 ones.

case: preflight

An expert: on a card each step waits for the loss; the count of right answers is made once, after the loop.
"""

import tensorflow as tf

w = tf.Variable(tf.random.normal((32, 10)), name="w")
x = tf.random.normal((256, 32))
y = tf.random.uniform((256,), maxval=10, dtype=tf.int64)
optimizer = tf.keras.optimizers.SGD(0.1)
history = []
for _ in range(8):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, tf.matmul(x, w)))
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))
    history.append(loss.numpy())  # expect: host-sync
right = tf.reduce_sum(tf.cast(tf.argmax(tf.matmul(x, w), axis=1) == y, tf.float32))
print(min(history), float(right))
