"""A model trained by gluon, by Module and by hand, seeded: numbers, logs, parameters' files."""

# frameworks: mxnet
import logging
import re

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd


class Timeless(logging.Formatter):
    def format(self, record):
        return re.sub(r"(Speed|Time cost)[^\t]*", r"\1", super().format(record))


handler = logging.StreamHandler()
handler.setFormatter(Timeless("%(levelname)s %(message)s"))
logging.basicConfig(level=logging.INFO, handlers=[handler])
mx.random.seed(1)
np.random.seed(1)
x, y = nd.random.normal(shape=(64, 3)), nd.random.normal(shape=(64, 1))
net = gluon.nn.HybridSequential(prefix="net_")
net.add(gluon.nn.Dense(4, activation="relu", prefix="one_"), gluon.nn.Dense(1, prefix="two_"))
net.initialize(mx.init.Xavier())
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "adam")
loss = gluon.loss.L2Loss()
for _ in range(20):
    with autograd.record():
        value = loss(net(x), y)
    value.backward()
    trainer.step(64)
print(round(float(value.mean().asscalar()), 5))
net.save_parameters("net.params")
net.export("net")
trainer.save_states("states")
module = mx.mod.Module(
    mx.sym.LinearRegressionOutput(
        mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc"), name="lro"
    ),
    label_names=["lro_label"],
)
module.fit(
    mx.io.NDArrayIter(x, y, 16, label_name="lro_label"),
    num_epoch=2,
    eval_metric="mse",
    batch_end_callback=mx.callback.Speedometer(16, 2),
)
module.save_checkpoint("module", 2)
