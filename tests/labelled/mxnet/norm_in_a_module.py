"""A Module of one's own clips gradients by a norm that it takes as a float.

https://github.com/apache/mxnet/issues/5062

Comparing the norm with a threshold in Python needs its value in every step. An expert would name the line
that takes it, in the method, and clip by arithmetic on the device.
"""

import mxnet as mx
import numpy as np


class ClippedModule(mx.mod.Module):
    def norm_clipping(self, threshold=1.0):
        assert self.binded and self.params_initialized
        norm_val = self.get_global_norm_val()
        if norm_val > threshold:
            ratio = threshold / norm_val
            for grads in self._exec_group.grad_arrays:
                for grad in grads:
                    grad *= ratio

    def get_global_norm_val(self):
        squares = [mx.nd.sum(grad * grad) for grads in self._exec_group.grad_arrays for grad in grads]
        return float(mx.nd.sqrt(mx.nd.add_n(*squares)).asscalar())  # expect: host-sync


rng = np.random.RandomState(0)
train_iter = mx.io.NDArrayIter(rng.rand(320, 30).astype("float32"), rng.randint(0, 4, 320), batch_size=32)
net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="fc1")
net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=4, name="fc2")
mod = ClippedModule(mx.sym.SoftmaxOutput(net, name="softmax"), context=mx.cpu(1))
mod.bind(train_iter.provide_data, train_iter.provide_label)
mod.init_params(mx.init.Xavier(magnitude=10))
mod.init_optimizer(optimizer="sgd")
for batch in train_iter:
    mod.forward_backward(batch)
    mod.norm_clipping(0.1)
    mod.update()
mx.nd.waitall()
