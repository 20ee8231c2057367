"""One table scores words at two lines of a function, on the card, and was made before the card's scope.

https://github.com/tensorflow/tensor2tensor/issues/979 is about tables of embeddings left on the host.

An expert: one mistake, the table is made on the default device. To be told once, at the line first of two that read
as much, with the line that made it.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def main():
    table = tf.Variable(tf.random.normal((256, 64)))
    with tf.device("CPU:1"):
        for _ in range(12):
            words = tf.random.normal((32, 256))
            states = tf.tanh(tf.matmul(words, table))  # expect: variable-home
            scores = tf.matmul(states, table, transpose_b=True)
            tf.reduce_mean(tf.square(scores - words))


main()
