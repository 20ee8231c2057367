"""An executor is trained, and a lambda computes the error of each batch in numpy.

https://github.com/apache/mxnet/issues/2857

"After several iterations asnumpy gets slower and slower": it waits for more and more work. An expert would
name the lambda that takes both arrays. Data and labels are written into the executor's arrays from numpy in
each step.
"""

import mxnet as mx
import numpy as np


class Model:
    def __init__(self, ctx, batch_size):
        out = mx.sym.LinearRegressionOutput(
            mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
        )
        name = [arg for arg in out.list_arguments() if arg.endswith("label")][0]
        self.mod_exec = out.simple_bind(ctx, data=(batch_size, 20), **{name: (batch_size, 1)})
        self.data, self.label = self.mod_exec.arg_dict["data"], self.mod_exec.arg_dict[name]
        self.mod_exec.arg_dict["fc_weight"][:] = 0.01
        self.batch_size = batch_size

    def train(self, train_data, train_label, epoch=2, eval_func=None):
        if eval_func is None:
            eval_func = lambda x, y: np.std(x.asnumpy() - y.asnumpy())  # noqa: E731  # expect: host-sync
        updater = mx.optimizer.get_updater(mx.optimizer.create("rmsprop", learning_rate=0.0005))
        for iteration in range(epoch):
            for begin in range(0, train_data.shape[0], self.batch_size):
                self.data[:] = train_data[begin : begin + self.batch_size]  # expect: info host-upload
                self.label[:] = train_label[begin : begin + self.batch_size]  # expect: info host-upload
                self.mod_exec.forward(is_train=True)
                self.mod_exec.backward()
                train_error = eval_func(self.mod_exec.outputs[0], self.label)
                for index, name in enumerate(("fc_weight", "fc_bias")):
                    updater(index, self.mod_exec.grad_dict[name], self.mod_exec.arg_dict[name])
            print("epoch", iteration, "error", train_error)


rng = np.random.RandomState(0)
features = rng.rand(200, 20)
Model(mx.cpu(1), 20).train(features, features.sum(axis=1, keepdims=True))
