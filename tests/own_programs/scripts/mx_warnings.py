"""Warnings of MXNet with the line that they name, each as often as without the recorder."""

# frameworks: mxnet
# quick: mxnet
import warnings

import mxnet as mx
from mxnet import autograd, gluon, nd

warnings.simplefilter("always")
x = mx.sym.Variable("data")
net = mx.sym.FullyConnected(x, num_hidden=4, name="fc")
net = mx.sym.Activation(net, act_type="relu")
net = mx.sym.BatchNorm(net, name="bn")
net = mx.sym.Dropout(net, p=0.5)
net = mx.sym.SoftmaxOutput(net, name="softmax")
executor = net.simple_bind(mx.cpu(), data=(2, 3))
executor.forward(is_train=True)
executor.backward()
print(executor.outputs[0].shape)
module = mx.mod.Module(net)
module.bind([("data", (2, 3))], [("softmax_label", (2,))])
module.init_params()
module.init_params()
conv = mx.sym.Convolution_v1(mx.sym.Variable("data"), kernel=(3, 3), num_filter=2)
pool = mx.sym.Pooling_v1(conv, kernel=(2, 2), pool_type="max")
pool.simple_bind(mx.cpu(), data=(1, 1, 8, 8)).forward()
nd.BatchNorm_v1(nd.ones((2, 3)), nd.ones(3), nd.ones(3))
old = mx.sym.Crop(mx.sym.Variable("data"), h_w=(2, 2), num_args=1)
old.simple_bind(mx.cpu(), data=(1, 1, 8, 8))
mx.sym.SoftmaxActivation(x).simple_bind(mx.cpu(), data=(2, 3))
nd.SoftmaxActivation(nd.ones((2, 3)))
nd.Softmax(nd.ones((2, 3)), nd.ones((2,)))
mx.sym.Softmax(x).simple_bind(mx.cpu(), data=(2, 3))


mx.sym.Reshape(x, target_shape=(2, 0)).simple_bind(mx.cpu(), data=(3, 2)).forward()
mx.sym.Reshape(x, target_shape=(7, 3, 2), keep_highest=True).simple_bind(mx.cpu(), data=(2, 6)).forward()


class Old(gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.SoftmaxActivation(F.Reshape(F.Crop(x, h_w=(2, 2), num_args=1), target_shape=(2, 2)))


block = Old()
block.hybridize()
block(nd.ones((1, 1, 4, 4)))
dense = gluon.nn.Dense(2)
dense.initialize()
dense.initialize()
mx.nd.ones((2, 2)).asnumpy()
mx.random.seed(1)
net.infer_shape_partial(data=(0, 3))
