"""Eight steps on two contexts: by a kvstore's optimizer, or by one that uses a kvstore itself."""

import sys

import mxnet as mx
from mxnet import autograd, gluon, nd

way = sys.argv[1]
contexts = [mx.cpu(1), mx.cpu(2)]


def fit_module():
    data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4)
    module = mx.mod.Module(mx.sym.SoftmaxOutput(data, name="softmax"), context=contexts)
    batches = mx.io.NDArrayIter(nd.ones((64, 8)), nd.zeros((64,)), batch_size=8)
    module.fit(batches, num_epoch=1, kvstore="local")  # module


def train():
    net = gluon.nn.Dense(4, in_units=8)
    net.initialize(ctx=contexts)
    parameters = list(net.collect_params().values())
    store = mx.kv.create("local")
    trainer = None
    if way == "trainer":
        trainer = gluon.Trainer(net.collect_params(), "sgd", kvstore=store, update_on_kvstore=True)
    else:
        for key, parameter in enumerate(parameters):
            store.init(key, parameter.data(contexts[0]))
        if way == "updater":
            store._set_updater(mx.optimizer.get_updater(mx.optimizer.SGD()))
        elif way != "sums":
            store.set_optimizer(mx.optimizer.SGD())
    for _ in range(8):
        with autograd.record():
            losses = [net(nd.ones((2, 8), ctx=context)).sum() for context in contexts]
        autograd.backward(losses)
        if trainer is not None:
            trainer.step(4)  # trainer
            continue
        for key, parameter in enumerate(parameters):
            if way == "pushpull":
                store.pushpull(key, parameter.list_grad(), out=parameter.list_data())  # pushpull
                continue
            store.push(key, parameter.list_grad())  # push
            store.pull(key, parameter.list_data() if way != "sums" else parameter.list_grad())
    nd.waitall()


if way == "module":
    fit_module()
else:
    train()
