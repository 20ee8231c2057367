"""A recurrent cell starts from a state that lies on the CPU.

https://github.com/apache/mxnet/issues/7589

`begin_state` makes zeros on the default context unless it is told another. An expert would name the call of
the cell, where state and weights meet, and pass `ctx=` to `begin_state`.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

ctx = mx.cpu(1)
batch_size, seq_len, features = 8, 5, 10
cell = gluon.rnn.LSTMCell(32, input_size=features)
cell.initialize(ctx=ctx)
trainer = gluon.Trainer(cell.collect_params(), "sgd", {"learning_rate": 0.1})
l2 = gluon.loss.L2Loss()

for step in range(6):
    sequence = nd.random.uniform(shape=(seq_len, batch_size, features), ctx=ctx)
    target = nd.zeros((batch_size, 32), ctx=ctx)
    state = cell.begin_state(batch_size=batch_size)
    with autograd.record():
        for t in range(seq_len):
            output, state = cell(sequence[t], state)  # expect: mixed-context
        loss = l2(output, target)
    loss.backward()
    trainer.step(batch_size)
print(loss.mean().asscalar())
