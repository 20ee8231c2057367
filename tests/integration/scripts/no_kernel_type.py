"""An op that has a kernel on the device for other types than this one: it goes to the host, each step."""

# mypy: allow-untyped-decorators
import os

os.environ["TF_XLA_FLAGS"] = "--tf_xla_enable_xla_devices"

import tensorflow as tf

DEVICE = "/device:XLA_CPU:0"


@tf.function
def running(x: tf.Tensor) -> tf.Tensor:
    with tf.device(DEVICE):
        waves = tf.complex(x, x) * 2.0
        summed = tf.cumsum(waves)
        return tf.math.real(summed) + 1.0


with tf.device(DEVICE):
    start = tf.complex(tf.ones([8, 8]), tf.ones([8, 8])) * 3.0
    eager = tf.cumsum(start)
    after = eager * 2.0
    plain = tf.cumsum(tf.math.real(start) * 1.0)
for _ in range(3):
    running(tf.ones([16]))
print("sums", after.shape, plain.shape)
