"""Pickled and deep-copied arrays, optimizers, blocks' parameters; symbols as JSON."""

# frameworks: mxnet
import copy
import pickle

import mxnet as mx

x = mx.nd.ones((2, 2)) * 3
print(pickle.loads(pickle.dumps(x)).asnumpy(), copy.deepcopy(x).asnumpy(), copy.copy(x).asnumpy())
print(len(pickle.dumps(x)), repr(x), str(x), bool(x[0, 0].asscalar()), int(x[0, 0].asscalar()), len(x))
optimizer = mx.optimizer.Adam()
print(type(pickle.loads(pickle.dumps(optimizer))).__name__)
symbol = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=2, name="fc")
print(pickle.loads(pickle.dumps(symbol)).tojson() == symbol.tojson(), copy.deepcopy(symbol).list_arguments())
print(sorted(vars(mx.gluon.nn.Dense(2, prefix="d_"))))
parameter = mx.gluon.Parameter("p", shape=(2,))
parameter.initialize()
print(pickle.loads(pickle.dumps(parameter)).name)
a = mx.np.ones((2,))
print(pickle.loads(pickle.dumps(a)), a.dtype, a.ctx, a.stype if hasattr(a, "stype") else "")
