"""Errors of eager ops caught, printed and uncaught, by functions and operators and methods."""

# frameworks: tensorflow
import traceback

import tensorflow as tf


def attempt(function):
    try:
        function()
    except Exception:
        traceback.print_exc()


x = tf.ones((2, 3))
attempt(lambda: tf.matmul(x, x))
attempt(lambda: x + tf.ones((4,)))
attempt(lambda: x @ x)
attempt(lambda: tf.constant("text") + 1)
attempt(lambda: tf.convert_to_tensor([[1], [1, 2]]))
attempt(lambda: tf.reshape(x, (4, 4)))
attempt(lambda: float(x))
attempt(lambda: tf.Variable(1.0).assign([1.0, 2.0]))
attempt(lambda: tf.debugging.assert_equal(1, 2))
attempt(lambda: tf.zeros((1,)).numpy()[3])
attempt(lambda: tf.io.read_file("missing"))
attempt(lambda: tf.raw_ops.MatMul(a=x, b=x))
attempt(lambda: x.gpu())
attempt(lambda: tf.GradientTape().gradient(x, x))
tf.linalg.inv(tf.zeros((2, 2)))
