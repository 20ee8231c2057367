"""A program that records blocks of itself; `late` ones find the framework imported, and a function traced."""

import sys

import hopscope

late = "late" in sys.argv
if late:
    import mxnet as mx


def define() -> None:
    global net, trainer, x
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4, in_units=3))
    net.initialize(ctx=mx.cpu(1))
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    x = mx.nd.ones((2, 3), ctx=mx.cpu(2))


def train(steps: int) -> None:
    for _ in range(steps):
        with mx.autograd.record():
            loss = net(x.as_in_context(mx.cpu(1))).sum()
        loss.backward()
        trainer.step(2)
        loss.asscalar()


if late:
    define()
    train(2)
with hopscope.record("first block") as first:
    if not late:
        import mxnet as mx

        define()
    train(6)
    with hopscope.record() as inner:
        assert inner.id == first.id
train(3)
try:
    with hopscope.record("second", quiet=True) as second:
        train(4)
        raise ValueError("it <b>broke</b>")
except ValueError as error:
    print("passed through:", error)
with hopscope.record("nothing", quiet=True):
    pass
print(first.id, second.id, first.address, sep="\n")
