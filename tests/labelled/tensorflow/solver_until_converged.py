"""An iterative solver goes on while the residual, on the card, is too large.

https://d2l.smola.org/slides/tensorflow/chapter_computational-performance/async-computation.html: "control flow
based on a tensor value" forces a barrier.

An expert: the condition of the loop takes a bool from the card before each iteration.
"""

import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)


class Solver:
    def __init__(self, matrix, rhs):
        self.matrix, self.rhs = matrix, rhs
        self.x = tf.zeros_like(rhs)

    def residual(self):
        return tf.linalg.matvec(self.matrix, self.x) - self.rhs

    def solve(self, tolerance=1e-3):
        while tf.norm(self.residual()) > tolerance:  # expect: host-sync
            self.x -= 0.5 * self.residual()
        return self.x


with tf.device("CPU:1"):
    matrix = tf.eye(64) + 0.001 * tf.random.normal((64, 64))
    solution = Solver(matrix, tf.random.normal((64,))).solve()
print(solution.shape)
