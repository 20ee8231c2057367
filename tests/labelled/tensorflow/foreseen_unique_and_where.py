"""Ids are made unique and positions of a mask are found inside a step that names no device.

https://github.com/tensorflow/tensorflow/issues/5965: "GPU ops for tf.unique; tf.where; and tf.dynamic_partition"
were asked for.

case: preflight

An expert: all three have kernels for cards by now (of tf.unique without an axis), so nothing crosses. Nothing to
warn of.
"""

import tensorflow as tf

table = tf.Variable(tf.random.normal((500, 16)), name="table")


@tf.function
def update(ids):
    distinct, where = tf.unique(ids)
    rows = tf.gather(table, distinct)
    large = tf.where(tf.reduce_sum(rows * rows, axis=1) > 10.0)
    few, many = tf.dynamic_partition(rows, tf.cast(rows[:, 0] > 0.0, tf.int32), 2)
    shrink = tf.reduce_mean(few) + tf.reduce_mean(many) + tf.reduce_mean(tf.gather(rows, where))
    kept = tf.cast(tf.shape(large, out_type=tf.int64)[0], tf.float32)
    table.assign_sub(0.001 * shrink * table / (1.0 + kept))


ids = tf.random.uniform((256,), maxval=500, dtype=tf.int64)
for _ in range(8):
    update(ids)
