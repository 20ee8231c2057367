"""Operators in Python, gradients, contexts and threads with MXNet that few programs have."""
# ruff: noqa: PTH106, PTH109, RUF059  # written as users write

import os
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, nd
from unusual import OddThread
from unusual_mx_arrays import ONE, TWO, values


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


class Two(autograd.Function):
    def forward(self, x, y):
        return x + y, x * y

    def backward(self, da, db):
        return da + db, da


class Doubled(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2)


class Slotted(Doubled):
    __slots__ = ()


@mx.operator.register("doubled")
class DoubledProp(mx.operator.CustomOpProp):
    def __init__(self, by="2"):
        super().__init__(need_top_grad=True)

    def list_arguments(self):
        return ["data"]

    def create_operator(self, ctx, shapes, dtypes):
        return Doubled()


@mx.operator.register("doubled_static")
class StaticProp(DoubledProp):
    @staticmethod
    def create_operator(ctx, shapes, dtypes):
        return Slotted()


@mx.operator.register("doubled_again")
class InheritedProp(DoubledProp):
    pass


def try_own_function():
    x = nd.array([0.0], ctx=ONE)
    x.attach_grad()
    y = nd.array([2.0], ctx=ONE)
    y.attach_grad(grad_req="add")
    with autograd.record():
        s = Sigmoid()(x)
        a, b = Two()(x, y)
        z = s + a + b
    z.backward()
    return values(z, x.grad, y.grad) + values(Sigmoid()(x))


def try_own_function_wrong():
    return Sigmoid()("x")


def try_own_function_nothing():
    return Sigmoid()()


def try_own_function_raises():
    class Bad(autograd.Function):
        def forward(self, x):
            raise KeyError("mine")

        def backward(self, dy):
            return dy

    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        Bad()(x)


def try_own_operators():
    out = []
    for name in ("doubled", "doubled_static", "doubled_again"):
        x = nd.ones((2,), ctx=ONE)
        x.attach_grad()
        with autograd.record():
            y = nd.Custom(x, op_type=name)
        y.backward()
        out += values(y, x.grad)
    made = DoubledProp().create_operator(None, [(2,)], [np.float32])
    other = DoubledProp().create_operator(ctx=ONE, shapes=[(2,)], dtypes=[np.float32])
    target = [nd.zeros((2,))]
    made.forward(True, ["write"], [nd.ones((2,))], target, [])
    made.forward(is_train=True, req=["add"], in_data=(nd.ones((2,)),), out_data=target, aux=None)
    symbol = mx.sym.Custom(mx.sym.var("d"), op_type="doubled")
    bound = symbol.bind(ONE, {"d": nd.ones((2,), ctx=ONE)})
    return out + values(*target, bound.forward()[0]) + [type(other).__name__]


def try_own_operator_unknown():
    return nd.Custom(nd.ones((1,)), op_type="nobody")


def try_own_operator_no_class():
    mx.operator.register("strange")(object())


def try_gradients():
    x = nd.array([1.0, 2.0], ctx=ONE)
    x.attach_grad()
    out = [x.grad.shape]
    with autograd.record(train_mode=False):
        y = (x * x).sum()
        z = x[0:1] * 3
        w = x.reshape((2, 1)) + nd.ones((2, 1), ctx=ONE)
    autograd.backward([y, z, w], head_grads=[None, nd.ones((1,), ctx=ONE), None], retain_graph=True)
    out += values(x.grad)
    with autograd.record():
        g = autograd.grad((x * x * x).sum(), [x], create_graph=True, retain_graph=True)[0]
        h = g.sum()
    h.backward()
    out += values(g, x.grad)
    with autograd.pause():
        out.append(autograd.is_recording())
    y = nd.zeros((2,))
    autograd.mark_variables([y], [nd.zeros((2,))], grad_reqs="add")
    autograd.mark_variables(y, nd.zeros((2,)))
    with autograd.predict_mode():
        out.append(autograd.is_training())
    x.grad[:] = 0
    return out + values(x.grad, x.detach()) + [y.grad.shape]


def try_gradient_none():
    return nd.ones((1,)).grad


def try_gradient_wrong():
    nd.ones((1,)).backward()


def try_gradient_twice():
    x = nd.ones((1,))
    x.attach_grad()
    with autograd.record():
        y = x * 2
    y.backward()
    y.backward()


def try_contexts():
    out = []
    with mx.Context("cpu", 1):
        with mx.Context(TWO):
            out.append(str(nd.ones((1,)).context))
        out.append(str(nd.ones((1,)).context))
    with mx.cpu(0):
        out.append(str(mx.current_context()))
    with ONE as entered:
        out.append(str(entered))
        try:
            with TWO:
                raise KeyError("mine")
        except KeyError:
            out.append(str(mx.current_context()))
    out += [mx.context.num_gpus(), hash(ONE) == hash(mx.cpu(1)), ONE == "x", str(mx.Context(ONE))]
    return out


def try_context_wrong():
    return mx.Context("tpu", 0)


def try_control_flow():
    out, states = nd.contrib.foreach(lambda x, s: (x + s, x + s), nd.arange(3), nd.zeros((1,)))
    looped, _ = nd.contrib.while_loop(
        lambda i: i < 3, lambda i: (i, [i + 1]), [nd.zeros((1,))], max_iterations=5
    )
    chosen = nd.contrib.cond(nd.ones((1,)), lambda: nd.ones((1,)) * 5, lambda: nd.zeros((1,)))
    return values(out, looped[0][:3], chosen)


def try_threads():
    out = []

    class Mine(OddThread):
        def run(self):
            out.append((nd.ones((2,), ctx=ONE) * 2).asnumpy().tolist())

    thread = Mine()
    thread.start()
    thread.join()
    return out


def try_gone_folder():
    here = os.getcwd()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)
    try:
        space = {"nd": nd, "mx": mx}
        exec(
            compile(
                "def f():\n    return float((nd.ones((2,), ctx=mx.cpu(1)) + 1).asnumpy().sum())\n",
                "made-up.py",
                "exec",
            ),
            space,
        )
        with mx.cpu(1):
            result = space["f"]()
        exec(
            compile(
                "x = nd.ones((2,)); x.attach_grad()\n"
                "with mx.cpu(1):\n  with mx.autograd.record():\n    y = x * 2\n"
                "y.backward()\nz = x.grad.asnumpy()\n",
                "<made>",
                "exec",
            ),
            space,
        )
    finally:
        os.chdir(here)
    return result, space["z"].tolist()
