import tensorflow as tf


class RunningMeanStd:
    """Mean and variance over all observations so far (parallel algorithm of Chan et al.)."""

    def __init__(self, size):
        self.mean = tf.Variable(tf.zeros([size]), trainable=False)
        self.var = tf.Variable(tf.ones([size]), trainable=False)
        self.count = tf.Variable(1e-4, trainable=False)

    def update(self, x):
        mean, var = tf.nn.moments(x, 0)
        n = tf.cast(tf.shape(x)[0], tf.float32)
        total = self.count + n
        delta = mean - self.mean
        m2 = self.var * self.count + var * n + delta**2 * self.count * n / total
        self.mean.assign_add(delta * n / total)
        self.var.assign(m2 / total)
        self.count.assign(total)

    def normalize(self, x):
        scaled = (x - self.mean) / tf.sqrt(self.var + 1e-6)  # expect: variable-home
        return tf.clip_by_value(scaled, -5.0, 5.0)
