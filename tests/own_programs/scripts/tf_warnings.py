"""Warnings and logs of TensorFlow's with the line that they name: deprecated names, tapes, retracing."""

# frameworks: tensorflow
import warnings

import tensorflow as tf

warnings.simplefilter("always")
x = tf.Variable(tf.ones((2, 2)))
with tf.GradientTape(persistent=True) as tape:
    y = x * 2
    tape.gradient(y, x)
with tf.GradientTape() as tape:
    tape.watch(tf.constant(1))
    z = tf.cast(x, tf.int32)
tape.gradient(z, x)
tf.compat.v1.disable_resource_variables()
tf.compat.v1.enable_resource_variables()
print(tf.test.is_gpu_available())
tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(lambda: tf.reduce_sum(x * x))
tf.data.experimental.get_single_element(tf.data.Dataset.range(1))
tf.compat.v1.to_float(x)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    warnings.warn("mine", stacklevel=1)
    tf.keras.utils.to_categorical([0, 1])
    tf.gather(tf.IndexedSlices(tf.ones((1, 2)), tf.constant([0]), tf.constant([4, 2])), 0)

    @tf.function
    def sparse(v):
        return tf.convert_to_tensor(tf.gradients(tf.gather(v, [0]), v)[0]) + 1.0

    sparse(tf.ones((3, 3)))
print([(str(one.message)[:80], one.filename.rpartition("/")[2], one.lineno) for one in caught])
