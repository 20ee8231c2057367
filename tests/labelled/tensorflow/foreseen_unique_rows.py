"""Class weights are made with unique values along an axis, eagerly, in a helper function.

https://github.com/tensorflow/tensorflow/issues/5965: no GPU kernel for tf.unique; the ops with an axis, UniqueV2
and UniqueWithCountsV2, have none to this day.

case: preflight

An expert: features that were made on the card go to the host for it in each step, though nobody named a device.
"""

import tensorflow as tf


def share_of_distinct(rows):
    found = tf.raw_ops.UniqueWithCountsV2(x=rows, axis=[0])  # expect: no-kernel
    return tf.size(found.count, out_type=tf.int64)


seen = tf.Variable(0, dtype=tf.int64)
for _ in range(8):
    codes = tf.math.round(tf.random.normal((512, 8)))
    seen.assign_add(share_of_distinct(codes))
