"""inspect: signatures, names, modules, source lines and docstrings of MXNet's public functions and methods."""

# frameworks: mxnet
import inspect

import mxnet as mx
from mxnet import gluon


def about(thing):
    try:
        signature = (str(inspect.signature(thing)) + str(inspect.getfullargspec(thing))).partition(" at 0x")[
            0
        ]
    except (TypeError, ValueError) as error:
        signature = type(error).__name__
    try:
        line = inspect.getsourcelines(thing)[1]
    except (TypeError, OSError) as error:
        line = type(error).__name__
    names = [getattr(thing, name, None) for name in ("__name__", "__qualname__", "__module__")]
    return signature, names, line, len(inspect.getdoc(thing) or "")


for place in (mx, mx.nd, mx.autograd, mx.random, mx.kv, mx.profiler, mx.operator, mx.symbol):
    for name in dir(place):
        thing = getattr(place, name, None)
        if inspect.isroutine(thing) and not name.startswith("__"):
            print(place.__name__, name, about(thing))
owners = [mx.nd.NDArray, mx.np.ndarray, mx.sym.Symbol, mx.executor.Executor, mx.kvstore.KVStore, mx.Context]
owners += [gluon.Trainer, gluon.Block, gluon.HybridBlock, gluon.Parameter, gluon.nn.Dense, mx.mod.Module]
owners += [
    mx.operator.CustomOp,
    mx.operator.CustomOpProp,
    mx.autograd.Function,
    mx.optimizer.Optimizer,
    mx.optimizer.Updater,
]
for owner in owners:
    for name in dir(owner):
        thing = inspect.getattr_static(owner, name, None)
        if inspect.isfunction(thing):
            print(owner.__name__, name, about(thing))
