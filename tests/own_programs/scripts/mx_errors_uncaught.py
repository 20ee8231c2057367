"""An error of an op of MXNet's, uncaught, three functions deep."""

# frameworks: mxnet
# quick: mxnet
from mxnet import nd


def deepest(x):
    return x.reshape((3, 3))


def train():
    for _ in range(3):
        deepest(nd.ones((2, 2)))


train()
