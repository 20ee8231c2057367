"""Indices for a gather are kept in an int32 variable in the scope of a card.

https://github.com/tensorflow/tensorflow/issues/59803: TensorFlow "does not support int32 variables being placed
on the GPU"; "each step has to invoke a host-to-device data transfer".

case: preflight

An expert: the variable is put on the host, whatever the scope says, and its value goes to the card in each
step, at the line that reads it; int64 would stay.
"""

import tensorflow as tf

with tf.device("/GPU:0"):
    neighbours = tf.Variable(tf.random.uniform((4096,), maxval=1000, dtype=tf.int32), name="neighbours")
    values = tf.Variable(tf.random.normal((1000, 16)), name="values")


@tf.function
def smooth():
    with tf.device("/GPU:0"):
        near = tf.gather(values, neighbours)  # expect: variable-home
        values.assign(0.9 * values + 0.1 * tf.reduce_mean(near))


for _ in range(8):
    smooth()
