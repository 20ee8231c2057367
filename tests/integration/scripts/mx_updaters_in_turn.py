import mxnet as mx
from mxnet import nd

for _ in range(3):  # an updater a phase of the training: the one before is gone then
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    weights = [nd.ones((2,)), nd.ones((2,))]
    for _ in range(4):
        for index, weight in enumerate(weights):
            updater(index, nd.ones((2,)), weight)
nd.waitall()
