"""Arrays that are copied there and back, whole or in another shape, and arrays that are copied again."""

import tempfile

import mxnet as mx
from mxnet import nd

host, one, two = mx.cpu(0), mx.cpu(1), mx.cpu(2)


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


codes = nd.random.normal(shape=(8, 8))
net = mx.gluon.nn.Dense(1, in_units=1)
net.initialize(ctx=one)  # initialised
late = mx.gluon.nn.Dense(2)
late.initialize(ctx=one)
late(nd.ones((1, 3), ctx=one))  # initialised when it is first used
loaded = mx.gluon.nn.Dense(1, in_units=1)
with tempfile.TemporaryDirectory() as folder:
    net.save_parameters(f"{folder}/net.params")
    loaded.load_parameters(f"{folder}/net.params", ctx=one)  # loaded
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", kvstore=None)
table = {"mask": nd.ones((8, 8)), "more": [nd.ones((8, 7)), nd.zeros((8, 7))]}
batches = [nd.random.normal(shape=(8, 6)) for _ in range(3)]
counter, sums, rows, buffer = nd.zeros((8, 5)), nd.zeros((8, 5)), nd.zeros((8, 5)), nd.zeros((8, 5))
of_rows, state, first = rows.reshape((5, 8)), nd.zeros((8, 4)), nd.zeros((8, 3))
mean, var, gamma = nd.zeros((6,)), nd.ones((6,)), nd.ones((6,))
weight = nd.ones((8, 2))
weight.attach_grad()
inner, far = nd.ones((2, 9), ctx=one), nd.zeros((2, 9), ctx=two)
inner_grad, far_mean = nd.zeros((2, 9), ctx=one), nd.zeros((9,), ctx=one)  # room for a gradient
mx.autograd.mark_variables([inner], [inner_grad])


def same_again():
    codes.as_in_context(one)  # the same
    table["mask"].copyto(one)  # the same of a table
    for part in table["more"]:
        part.as_in_context(one)  # the same of a list


def others(number):
    batches[number % 3].as_in_context(one)  # of a list of batches
    nd.random.normal(shape=(8, 6)).as_in_context(one)  # new ones
    counter[:] = number
    counter.as_in_context(one)  # written whole
    sums[2] += 1
    sums.as_in_context(one)  # written in part
    of_rows[:] = number
    rows.as_in_context(one)  # written as another
    rows.copyto(buffer)
    buffer.as_in_context(one)  # filled by a copy
    fresh = state.as_in_context(one)  # to be written to
    fresh += 1
    top = first.as_in_context(one)  # to be written to in part
    top[0] = number
    nd.BatchNorm(batches[0], gamma, gamma, mean, var)
    mean.as_in_context(one)  # a running mean
    with mx.autograd.record():
        (weight * weight).sum().backward()
    weight.grad.as_in_context(one)  # a gradient
    nd.sgd_update(weight, weight.grad, lr=0.1, out=weight)
    weight.as_in_context(one)  # a weight


def written_unseen():
    far[:] = 1
    far.copyto(inner_grad)  # into a gradient
    inner_grad.copyto(nd.empty((2, 9), ctx=two))  # what the code wrote there
    with mx.autograd.record():
        (inner * inner).sum().backward()
    inner_grad.copyto(far)  # back after a backward pass
    nd.zeros((9,), ctx=two).copyto(far_mean)
    nd.BatchNorm(inner, nd.ones((9,), ctx=one), nd.ones((9,), ctx=one), far_mean, nd.ones((9,), ctx=one))
    far_mean.as_in_context(two)  # back after a batch norm


for number in range(6):
    same_again()
    written_unseen()
    others(number)
    with mx.autograd.record():
        x = nd.random.normal(shape=(4, 20, 3), ctx=one)
        there_and_back(x)
        swap(x, (-1, 10, 6))
        add(x)
        clip(x)
        blank(x)
        part(x)
    trainer.step(1, ignore_stale_grad=True)
nd.waitall()
