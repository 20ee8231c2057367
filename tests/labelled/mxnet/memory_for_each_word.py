"""A decoder on the second card copies the encoder's outputs anew for each word.

https://github.com/apache/mxnet/pull/7580

The outputs are the same for all words of a sentence. An expert would name the line of the copy, which belongs
before the inner loop; the state, another one after each word, is copied as it must be.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

FIRST, SECOND = mx.cpu(1), mx.cpu(2)
WORDS = 5

encoder = gluon.nn.Dense(64, flatten=False, in_units=32)
scorer = gluon.nn.Dense(64, in_units=64)
encoder.initialize(ctx=FIRST)
scorer.initialize(ctx=SECOND)
trainers = [
    gluon.Trainer(part.collect_params(), "sgd", {"learning_rate": 0.01}, kvstore=None)
    for part in (encoder, scorer)
]
for _ in range(12):
    source = nd.random.uniform(shape=(8, 16, 32), ctx=FIRST)
    with autograd.record():
        outputs = encoder(source)
        state = outputs.mean(axis=1).as_in_context(SECOND)
        for _word in range(WORDS):
            memory = outputs.as_in_context(SECOND)  # expect: redundant-copy
            weights = nd.softmax(nd.batch_dot(memory, state.expand_dims(axis=2)), axis=1)
            state = scorer(nd.sum(memory * weights, axis=1) + state)
        loss = (state**2).mean()
    loss.backward()
    for trainer in trainers:
        trainer.step(1)
print(loss.asscalar())
