"""Gluon's Estimator is given its training metric: accuracy, and nothing else.

https://github.com/apache/mxnet/issues/9571: accuracy "converts everything to numpy, causing a blocking operation
at every iteration".

An expert: its MetricHandler takes predictions to numpy in each batch, and the labels, which it had sent to the
card; a loss is taken only where no metric is given. A handler of one's own does so every so many batches.
"""

import logging

import mxnet as mx
import numpy as np
from mxnet import gluon
from mxnet.gluon.contrib.estimator import Estimator

CARD = mx.cpu(1)

rng = np.random.RandomState(5)
x, y = rng.randn(320, 20).astype("float32"), rng.randint(0, 3, 320).astype("float32")
loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=32)
net = gluon.nn.Dense(3, in_units=20)
net.initialize(mx.init.Xavier(), ctx=CARD)
estimator = Estimator(
    net,
    gluon.loss.SoftmaxCrossEntropyLoss(),
    train_metrics=mx.metric.Accuracy(),
    trainer=gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05}),
    context=[CARD],
)
estimator.logger.setLevel(logging.WARNING)
estimator.fit(train_data=loader, epochs=1)  # expect: host-sync
