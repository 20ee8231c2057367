"""A thread copies the next batch to the device while the step runs.

https://github.com/apache/mxnet/issues/3114

An iterator prefetches from the disk; a thread of one's own sends the batch ahead, too. An expert would find
nothing to change.
"""

import queue
import threading

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn

ctx = mx.cpu(1)
rng = np.random.RandomState(0)
batches = mx.io.NDArrayIter(rng.rand(512, 64).astype("float32"), rng.randint(0, 10, 512), batch_size=32)
ahead = queue.Queue(maxsize=2)


def send():
    for batch in mx.io.PrefetchingIter(batches):
        data = batch.data[0].as_in_context(ctx)  # expect: info explicit
        ahead.put((data, batch.label[0].as_in_context(ctx)))
    ahead.put(None)


net = nn.HybridSequential()
net.add(nn.Dense(64, activation="relu"), nn.Dense(10))
net.initialize(ctx=ctx)
net.hybridize()
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
threading.Thread(target=send, daemon=True).start()
for data, label in iter(ahead.get, None):
    with autograd.record():
        loss = loss_fn(net(data), label)
    loss.backward()
    trainer.step(32)
print(loss.mean().asscalar())
