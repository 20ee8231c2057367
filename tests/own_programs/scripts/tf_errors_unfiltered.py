"""tf.debugging.disable_traceback_filtering: every frame of TensorFlow's is shown."""

# frameworks: tensorflow
import sys
import traceback

import tensorflow as tf

tf.debugging.disable_traceback_filtering()


@tf.custom_gradient
def odd(x):
    def grad(dy):
        return tf.matmul(dy, tf.ones((5, 5)))

    return x * 2, grad


def attempt(function):
    try:
        function()
    except Exception:
        # TensorFlow's threads log the same errors on standard error, sooner or later.
        traceback.print_exc(file=sys.stdout)


def backwards():
    x = tf.Variable(tf.ones((2, 2)))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(odd(x))
    tape.gradient(y, x)


@tf.function
def traced():
    backwards()


x = tf.ones((2, 3))
attempt(lambda: tf.matmul(x, x))
attempt(lambda: tf.reshape(x, (4, 4)))
attempt(backwards)
attempt(traced)
attempt(lambda: tf.py_function(lambda: 1 / 0, [], tf.float32))
attempt(lambda: tf.numpy_function(lambda: 1 / 0, [], tf.float32))
attempt(
    lambda: next(iter(tf.data.Dataset.range(3).map(lambda n: tf.py_function(lambda: 1 / 0, [], tf.int64))))
)
attempt(lambda: tf.keras.optimizers.SGD().apply_gradients([(None, tf.Variable(1.0))]))
attempt(lambda: tf.convert_to_tensor(object()))
attempt(lambda: tf.device("nonsense:x").__enter__() or tf.ones(1))
tf.matmul(x, x)
