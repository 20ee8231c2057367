"""Arrays that are copied there and back, whole or in another shape, and arrays that are copied again."""

import mxnet as mx
from mxnet import nd

host, one = mx.cpu(0), mx.cpu(1)


def there_and_back(x):
    there = x.copyto(host)  # out, for nothing
    return there.as_in_context(x.context)


def swap(x, shape):
    home = x.context
    x = x.as_in_context(host)  # out, for a shape
    x = x.reshape(shape).transpose((0, 2, 1))
    return x.as_in_context(home)


def add(x):
    there = x.copyto(host)  # out, to be added to
    there += 1
    return there.as_in_context(x.context)


def clip(x):
    there = x.copyto(host)  # out, to be changed
    rows = there.reshape((-1, 4))
    rows[:] = nd.clip(rows, -1, 1)
    return there.as_in_context(x.context)


def blank(x):
    there = x.copyto(host)  # out, for a new first row
    rows = there.reshape((-1, 4))
    there[0] = 0
    return rows.as_in_context(x.context)


def part(x):
    there = x.copyto(host)  # out, for a part
    return there[1:].as_in_context(x.context)


for _ in range(6):
    with mx.autograd.record():
        x = nd.random.normal(shape=(4, 20, 3), ctx=one)
        there_and_back(x)
        swap(x, (-1, 10, 6))
        add(x)
        clip(x)
        blank(x)
        part(x)
nd.waitall()
