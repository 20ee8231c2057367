"""Records two blocks, of which the first imports TensorFlow."""

import hopscope

with hopscope.record("one", quiet=True):
    import tensorflow as tf

    cpus = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 3)
    with tf.device("/CPU:1"):
        v = tf.Variable(tf.ones([256]))

    @tf.function
    def step(v):
        with tf.device("/CPU:1"):
            a = v * 2.0
        with tf.device("/CPU:2"):
            return tf.reduce_sum(a)  # reads across

    @tf.function
    def looped(v, times):
        total = tf.constant(0.0)
        for _ in tf.range(times):
            with tf.device("/CPU:1"):
                a = v * total
            with tf.device("/CPU:2"):
                total += tf.reduce_mean(a)  # reads across in a loop
        return total

    for _ in range(6):
        float(step(v))
    looped(v, tf.constant(3))
float(step(v))
with hopscope.record("two", quiet=True):
    for _ in range(4):
        float(step(v))
    looped(v, tf.constant(5))
