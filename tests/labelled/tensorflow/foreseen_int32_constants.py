"""Shapes, axes and a class number in int32 are constants of a model that names no device.

https://github.com/tensorflow/tensorflow/issues/34071: "When dtype is int32, tf.constant didn't place tensor on gpu
but cpu."

case: preflight

An expert: that is how it is meant to be: the kernels read such sizes from host memory, and nothing of any size
crosses. Nothing to warn of.
"""

import tensorflow as tf

w = tf.Variable(tf.random.normal((32, 12)), name="w")
shape = tf.constant([64, 3, 4], dtype=tf.int32)
axis = tf.constant(2, dtype=tf.int32)


@tf.function
def train_step(x):
    grouped = tf.reshape(tf.matmul(x, w), shape)
    best = tf.argmax(grouped, axis=axis)
    w.assign_sub(0.01 * tf.reduce_mean(tf.one_hot(best, 4)) * w)


features = tf.random.normal((64, 32))
for _ in range(8):
    train_step(features)
