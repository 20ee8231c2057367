"""A Monitor of interval 1 watches every batch of a Module's own loop.

https://github.com/awslabs/sockeye/pull/91 gives one to its training: "MXNet's monitor behavior isn't really
straightforward".

An expert: in each batch that it watches, tic() and toc_print() wait for all arrays, and each statistic goes to
Python as text: give it an interval of hundreds. The waits are the monitor's: none of them can be left out here.
"""

import mxnet as mx
import numpy as np

CARD = mx.cpu(1)

net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=64, name="first")
net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu"), num_hidden=4, name="second")
net = mx.sym.SoftmaxOutput(net, name="softmax")

rng = np.random.RandomState(0)
x, y = rng.randn(12 * 32, 50).astype("float32"), rng.randint(0, 4, 12 * 32)
batches = mx.io.NDArrayIter(x, y, batch_size=32, label_name="softmax_label")
module = mx.mod.Module(net, context=CARD)
module.bind(data_shapes=batches.provide_data, label_shapes=batches.provide_label)
module.init_params(mx.init.Xavier())
module.init_optimizer(kvstore=None, optimizer="sgd")
monitor = mx.mon.Monitor(1, stat_func=lambda a: a.abs().mean(), pattern=".*weight|.*output")
module.install_monitor(monitor)
for batch in batches:
    monitor.tic()  # may: host-sync
    module.forward(batch, is_train=True)
    module.backward()
    module.update()
    monitor.toc_print()  # expect: host-sync
