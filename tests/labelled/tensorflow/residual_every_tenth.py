"""A solver by hand prints the residual, on the card, at every tenth of its iterations.

https://d2l.ai/chapter_computational-performance/async-computation.html: printing is what one waits for; done
seldom it costs little.

An expert: nothing to change. There is neither an optimizer nor a function whose calls tell what a round is.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)

with tf.device("CPU:1"):
    matrix = tf.eye(64) + 0.001 * tf.random.normal((64, 64))
    rhs = tf.random.normal((64,))
    x = tf.zeros_like(rhs)
    for number in range(1, 81):
        residual = tf.linalg.matvec(matrix, x) - rhs
        x -= 0.1 * residual
        if number % 10 == 0:
            norm = tf.norm(residual)
            print(number, float(norm))  # expect: info host-sync
