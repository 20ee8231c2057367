"""A small GAN draws its noise in a helper, and another statement copies it; its data comes from an iterator.

https://github.com/apache/mxnet/issues/8375

Nothing is done with the noise but that copy, so an expert would draw it on the card. The made-up batches that
the iterator hands out stay the host's, as data is, and so does a sketch of which the host keeps the mean, and
the one start that two cards are to have alike.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

CARD, SECOND = mx.cpu(1), mx.cpu(2)
BATCH, LATENT, LENGTH = 32, 16, 24


def latent(count):
    return nd.random.normal(0, 1, shape=(count, LATENT))  # expect: default-device


class Samples(mx.io.DataIter):
    def __init__(self, count):
        super().__init__(BATCH)
        self.left = count

    def next(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        rows = nd.random.normal(2, 0.5, shape=(BATCH, LENGTH))
        return mx.io.DataBatch([rows], pad=0)


def dense(*widths):
    net = gluon.nn.HybridSequential()
    for before, width in zip(widths, widths[1:]):
        net.add(gluon.nn.Dense(width, in_units=before, activation="relu" if width > 1 else None))
    net.initialize(ctx=CARD)
    net.hybridize()
    return net, gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})


(maker, makes), (judge, judges) = dense(LATENT, 32, LENGTH), dense(LENGTH, 32, 1)
bce = gluon.loss.SigmoidBinaryCrossEntropyLoss()
genuine, forged = nd.ones((BATCH,), ctx=CARD), nd.zeros((BATCH,), ctx=CARD)
means, towers = [], []

for batch in Samples(12):
    real = batch.data[0].as_in_context(CARD)
    noise = latent(BATCH)
    noise = noise.as_in_context(CARD)
    with autograd.record():
        fake = maker(noise)
        loss = bce(judge(real), genuine) + bce(judge(fake.detach()), forged)
    loss.backward()
    judges.step(BATCH)
    with autograd.record():
        loss = bce(judge(maker(noise)), genuine)
    loss.backward()
    makes.step(BATCH)

    sketch = nd.random.uniform(-1, 1, shape=(BATCH, LENGTH))
    means.append(sketch.mean())
    judge(sketch.as_in_context(CARD))
    start = nd.random.normal(shape=(BATCH, LATENT))
    towers = [start.as_in_context(card) for card in (CARD, SECOND)]
print(loss.mean().asscalar(), [tower.sum().asscalar() for tower in towers])
