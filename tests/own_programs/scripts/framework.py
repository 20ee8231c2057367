"""Imports the framework that $OWN_FRAMEWORK names and lets it compute; `none` computes without one."""

import os

NAME = os.environ.get("OWN_FRAMEWORK", "none")

if NAME == "tensorflow":
    import tensorflow as module

    def compute():
        return float(module.reduce_sum(module.ones((2, 2)) * 3.0))

    def fail():
        return module.matmul(module.ones((2, 3)), module.ones((2, 3)))

    def array(n):
        return module.zeros((n,)) + 1.0

elif NAME == "mxnet":
    import mxnet as module

    def compute():
        return float((module.nd.ones((2, 2)) * 3.0).sum().asscalar())

    def fail():
        return module.nd.dot(module.nd.ones((2, 3)), module.nd.ones((2, 3)))

    def array(n):
        return module.nd.zeros((n,)) + 1.0

else:
    module = os

    def compute():
        return 12.0

    def fail():
        return [1][2]

    def array(n):
        return [1.0] * n


assert compute() == 12.0
