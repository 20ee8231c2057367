"""200,000 eager ops; numbers of ops and sums at the end."""

# frameworks: tensorflow
import tensorflow as tf

x = tf.constant(0.0)
one = tf.constant(1.0)
for _ in range(200_000):
    x = tf.add(x, one)
print(x.numpy())
