"""A large embedding stays in host memory, the layers behind it are on the device.

https://github.com/apache/mxnet/issues/1716

Half a million words do not fit beside the rest. The code copies what it looked up to the device itself: the
looked-up rows cross in each step, which is far less than the table. An expert would note the copy and warn
of nothing.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

host, device = mx.cpu(), mx.cpu(1)
vocab_size, embed_size, batch_size, seq_len = 5000, 32, 16, 10

embedding = nn.Embedding(vocab_size, embed_size)
embedding.initialize(ctx=host)
decoder = nn.Sequential()
decoder.add(nn.Dense(64, activation="tanh"), nn.Dense(1))
decoder.initialize(ctx=device)
trainers = [
    gluon.Trainer(block.collect_params(), "sgd", {"learning_rate": 0.1}) for block in (embedding, decoder)
]
l2 = gluon.loss.L2Loss()

for step in range(8):
    words = nd.floor(nd.random.uniform(0, vocab_size, shape=(batch_size, seq_len), ctx=host))
    target = nd.ones((batch_size, 1), ctx=device)
    with autograd.record():
        looked_up = embedding(words)
        hidden = looked_up.as_in_context(device)  # expect: info explicit
        loss = l2(decoder(hidden), target)
    loss.backward()
    for trainer in trainers:
        trainer.step(batch_size)
print(loss.mean().asscalar())
