"""Copies, assignments, uploads, mixed contexts and syncs of eager MXNet code, each on a line of its own."""

import mxnet as mx
import numpy as np
from mxnet import nd

one, two = mx.cpu(1), mx.cpu(2)

x = nd.array([[1, 2, 3], [4, 5, 6]], ctx=one)  # upload
doubled = x * 2
moved = doubled.as_in_context(two)  # copy
same = doubled.as_in_context(one)  # no copy
assert same is doubled
again = doubled.copyto(one)  # redundant copy
snapshot = doubled.copy()  # a copy that is wanted
target = nd.zeros((2, 3), ctx=two)
doubled.copyto(target)  # copy into
x[0:1] = nd.ones((1, 3), ctx=two)  # assignment from elsewhere
mixed = x + moved  # mixed
for _ in range(3):
    mixed.sum().asscalar()  # scalar
text = str(moved)  # print
numbers = mx.np.zeros((2, 2), ctx=two)  # newer interface
product = mx.np.tensordot(numbers, numbers, axes=1)  # newer interface too
target[:] = np.ones((2, 3))  # upload into what is in use
moved.wait_to_read()  # wait
nd.waitall()  # wait for all
