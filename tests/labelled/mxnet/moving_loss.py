"""A moving average of the loss is kept in Python.

https://github.com/zackchase/mxnet-the-straight-dope/issues/455

`asscalar` waits for the batch's whole computation. An expert would keep the moving loss on the device and
take it once an epoch.
"""

import mxnet as mx
from mxnet import autograd, gluon, nd

data_ctx = mx.cpu()
model_ctx = mx.cpu(1)
num_examples, batch_size, smoothing = 400, 20, 0.01

X = nd.random_normal(shape=(num_examples, 8), ctx=data_ctx)
y = (X * nd.arange(8)).sum(axis=1) + 0.01 * nd.random_normal(shape=(num_examples,), ctx=data_ctx)
train_data = gluon.data.DataLoader(gluon.data.ArrayDataset(X, y), batch_size=batch_size, shuffle=True)

net = gluon.nn.Dense(1)
net.initialize(mx.init.Normal(sigma=0.1), ctx=model_ctx)
square_loss = gluon.loss.L2Loss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01})

moving_loss = 0.0
for epoch in range(2):
    for i, (data, label) in enumerate(train_data):
        data = data.as_in_context(model_ctx)
        label = label.as_in_context(model_ctx)
        with autograd.record():
            output = net(data)
            loss = square_loss(output, label)
        loss.backward()
        trainer.step(batch_size)
        curr_loss = nd.mean(loss).asscalar()  # expect: host-sync
        moving_loss = (
            curr_loss if i == 0 and epoch == 0 else (1 - smoothing) * moving_loss + smoothing * curr_loss
        )
    print("Epoch %s, moving mse: %s" % (epoch, moving_loss))
