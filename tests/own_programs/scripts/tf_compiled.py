"""jit_compile: results, errors that XLA raises, its logs."""

# frameworks: tensorflow
import tensorflow as tf


@tf.function(jit_compile=True)
def f(x, w):
    return tf.reduce_sum(tf.nn.relu(x @ w))


print(f(tf.ones((4, 4)), tf.ones((4, 4))).numpy())


@tf.function(jit_compile=True)
def refused(x):
    return tf.strings.as_string(x)


try:
    refused(tf.ones(2))
except Exception as error:
    print(type(error).__name__)
with tf.GradientTape() as tape:
    v = tf.Variable(tf.ones((4, 4)))
    loss = f(v, v)
print(tape.gradient(loss, v).numpy().sum())
refused(tf.ones(3))
