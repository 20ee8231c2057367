"""A class-weighted loss: its weights are an nd.array made without a context in the constructor, the batch is on card 1.

From https://mxnet.apache.org/versions/1.5.0/tutorials/gluon/multi_gpu.html (the default context is the CPU)
and the loop of https://github.com/apache/mxnet/issues/10368.

An expert: `take` reads weights of cpu(0) with labels of the card, which raises on GPUs: mixed-context. The
product one line further has the weights taken, on cpu(0), and the picked ones of the card: the same mistake,
and both are mended where the weights are made.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

CTX = mx.cpu(1)


class WeightedCE(gluon.loss.Loss):
    def __init__(self, weights, **kwargs):
        super().__init__(None, 0, **kwargs)
        self.class_weights = nd.array(weights)

    def forward(self, pred, label):
        logp = nd.log_softmax(pred)
        weight = nd.take(self.class_weights, label)  # expect: mixed-context
        return -nd.pick(logp, label) * weight


def frequencies(labels):
    counts = [labels.count(c) for c in sorted(set(labels))]
    return [len(labels) / (len(counts) * c) for c in counts]


mx.random.seed(0)
loss_fn = WeightedCE(frequencies([0] * 60 + [1] * 30 + [2] * 10))
net = gluon.nn.Sequential()
net.add(gluon.nn.Dense(20, activation="tanh"), gluon.nn.Dense(3))
net.initialize(ctx=CTX)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
for _ in range(8):
    x = nd.random.normal(shape=(16, 5), ctx=CTX)
    y = nd.argmax(x[:, :3], axis=1)
    with autograd.record():
        loss = loss_fn(net(x), y)
    loss.backward()
    trainer.step(16)
print(loss.mean().asscalar())
