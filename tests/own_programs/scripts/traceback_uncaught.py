"""An exception of the framework that nobody catches."""

# frameworks: none tensorflow mxnet
# quick: none
import framework


def train():
    framework.compute()
    framework.fail()


train()
