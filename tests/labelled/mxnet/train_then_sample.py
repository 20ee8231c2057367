"""A character model is trained quietly; then it writes a text, a character at a time.

https://github.com/zackchase/mxnet-the-straight-dope/issues/183: how to write the function that samples.

An expert: each round of the sampling waits for the drawn character. Nothing but the text needs it: keep the
characters on the device, and take them together at the end.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.cpu(1)
LETTERS = "abcdefgh"
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Embedding(8, 16), gluon.nn.Dense(8))
net.initialize(ctx=ctx)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
tokens = nd.floor(nd.random.uniform(0, 8, shape=(64,), ctx=ctx))
following = nd.floor(nd.random.uniform(0, 8, shape=(64,), ctx=ctx))

for _ in range(20):
    with autograd.record():
        loss = criterion(net(tokens), following)
    loss.backward()
    trainer.step(64)

text = "a"
token = nd.zeros((1,), ctx=ctx)
for _ in range(24):
    token = nd.random.multinomial(nd.softmax(net(token))).astype("float32")
    text += LETTERS[int(token.asscalar())]  # expect: host-sync
print(text)
