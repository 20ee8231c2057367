"""Takes values in every way there is, behind work that takes a while."""

import pickle
import tempfile

import mxnet as mx
from mxnet import nd

ctx = mx.cpu(1)
large = nd.random.uniform(shape=(300, 300), ctx=ctx)


def value():
    result = large
    for _ in range(4):
        result = nd.dot(result, large) * 0.01
    return result.sum()


def number():
    return value().as_np_ndarray().reshape(())


value().asnumpy()  # asnumpy
value().asscalar()  # asscalar
value().wait_to_read()  # wait_to_read
value()
nd.waitall()  # waitall
print(value())  # print
text = f"{value()}"  # format
bool(value() > 0)  # bool
if value() > 0:  # if
    pass
pickle.dumps(value())  # pickle
value().as_in_context(mx.cpu()).asscalar()  # copied, then taken
host = nd.random.uniform(shape=(2000, 2000))
host.wait_to_read()
product = nd.dot(host, host)
new = nd.array([1.0] * 64, ctx=ctx)  # behind work of the host
copied = value().as_in_context(mx.cpu())
for _ in range(3):
    (copied + 1).asscalar()  # copied once
with tempfile.TemporaryDirectory() as folder:
    nd.save(f"{folder}/value", value())  # save
    net = mx.gluon.nn.Dense(2, in_units=2)
    net.initialize(ctx=ctx)
    net.save_parameters(f"{folder}/net")  # parameters
mx.npx.set_np()
float(number())  # float
int(number())  # int
number().item()  # item
number().tolist()  # tolist
bool(number() > 0)  # bool of np
print(number())  # print of np
for _ in range(2):
    loss = number()
    history = [float(loss.item()) for _ in range(2)]  # in a comprehension
