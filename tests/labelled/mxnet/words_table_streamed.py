"""The words' table lives on the host, and the model copies all of it to the card to look a few rows up.

https://github.com/apache/mxnet/issues/17722

Autograd records that copy, so its gradient, as large as the table, comes back in each step. An expert would
look the rows up on the host and send those, as is done for the tags, or keep the table on the card. The shadow
of the table that the card keeps for its evaluation is copied outside of autograd, on purpose, and the inputs
that are disturbed along their gradient are data.
"""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn

HOST, CARD = mx.cpu(0), mx.cpu(1)
WORDS, TAGS, WIDTH, BATCH = 1200, 400, 32, 24


class Tagger(gluon.Block):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.words = self.params.get("words", shape=(WORDS, WIDTH), init=mx.init.Uniform(0.1))
            self.tags = nn.Embedding(TAGS, WIDTH)
            self.top = nn.Dense(1, in_units=2 * WIDTH + 8)

    def forward(self, words, tags, extra):
        here = self.words.data().copyto(CARD)  # expect: variable-home
        first = nd.take(here, words)
        second = self.tags(tags).as_in_context(CARD)
        return self.top(nd.concat(first, second, extra.as_in_context(CARD), dim=1))


def main():
    net = Tagger()
    for part in (net.words, net.tags):
        part.initialize(ctx=HOST)
    net.top.initialize(ctx=CARD)
    params = net.collect_params()
    on_host = {name: one for name, one in params.items() if "dense" not in name}
    trainers = [
        gluon.Trainer(some, "sgd", {"learning_rate": 0.1}) for some in (on_host, net.top.collect_params())
    ]
    loss_of = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    shadow = net.words.data().copyto(CARD)
    rng = np.random.RandomState(3)
    for _ in range(14):
        words = nd.array(rng.randint(0, WORDS, BATCH), ctx=CARD)  # may: host-upload
        tags = nd.array(rng.randint(0, TAGS, BATCH))
        label = nd.array(rng.randint(0, 2, BATCH), ctx=CARD)  # may: host-upload
        extra = nd.array(rng.rand(BATCH, 8).astype("float32"))
        extra.attach_grad()
        with autograd.record():
            loss = loss_of(net(words, tags, extra), label)
        loss.backward()
        extra += 0.01 * nd.sign(extra.grad)
        with autograd.record():
            loss = loss_of(net(words, tags, extra), label)
        loss.backward()
        for trainer in trainers:
            trainer.step(BATCH)
        shadow[:] = 0.99 * shadow + 0.01 * net.words.data().as_in_context(CARD)
    print(float(loss.mean().asscalar()), float(shadow.norm().asscalar()))


main()
