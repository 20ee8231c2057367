"""Arrays of MXNet's that few programs have."""
# ruff: noqa: PTH118, PTH123, RUF005, RUF015  # written as users write

import copy
import os
import pickle
import tempfile

import numpy as np

if not hasattr(np, "bool"):
    np.bool = bool  # MXNet 1.9 takes an older numpy
import mxnet as mx
from mxnet import nd
from unusual import Odd

ONE, TWO = mx.cpu(1), mx.cpu(2)


def values(*arrays):
    return [np.asarray(a.asnumpy()).tolist() for a in arrays]


def try_numpy_interface():
    a = mx.np.ones((2, 3), ctx=ONE)
    b = mx.np.zeros((2, 3), ctx=ONE)
    c = mx.np.tensordot(a, b.T, axes=1)
    mx.np.add(a, b, out=b)
    d = mx.npx.relu(-a)
    e = mx.np.array([1, 2, 3])[mx.np.array([0, 2])]
    f = mx.np.concatenate([a, b], axis=0)
    with mx.np_shape(True):
        g = mx.np.ones((), ctx=ONE)
        h = mx.np.ones((0, 3), ctx=ONE)
        out = [g.item(), h.shape, float(g), (g + 1).item(), h.asnumpy().shape, (h * 2).shape]
    w = mx.np.where(a > 0, a, b)
    m = mx.np.mean(a)
    s = mx.np.split(a, 3, axis=1)
    u = mx.np.unique(mx.np.array([1, 1, 2]))
    return [
        c.tolist(),
        b.tolist(),
        d.tolist(),
        e.tolist(),
        f.shape,
        out,
        w.shape,
        float(m),
        len(s),
        u.tolist(),
        (a == b).asnumpy().tolist(),
    ]


def try_numpy_mixed():
    a = mx.np.ones((2,), ctx=ONE)
    return [
        np.asarray(a.as_nd_ndarray().asnumpy()).tolist(),
        a.as_in_ctx(TWO).tolist(),
        np.mean(a.asnumpy()),
        isinstance(np.add(a, 1), type(a)),
        a.copy().tolist(),
        a.detach().tolist(),
    ]


def try_sparse():
    dense = nd.array([[0, 1], [2, 0], [0, 0]], ctx=ONE)
    rs, csr = dense.tostype("row_sparse"), dense.tostype("csr")
    z = nd.sparse.zeros("row_sparse", (3, 2), ctx=ONE)
    made = nd.sparse.csr_matrix(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 2), ctx=TWO)
    rsm = nd.sparse.row_sparse_array(([[1.0, 2.0]], [1]), shape=(3, 2))
    out = values(rs, csr, z, made, rsm)
    out += values(
        nd.sparse.dot(csr, nd.ones((2, 2), ctx=ONE)),
        rs.as_in_context(TWO),
        nd.sparse.retain(rs, nd.array([0], ctx=ONE)),
    )
    rs.copyto(z)
    out += values(z, csr[0:1], rs.data, rs.indices, csr.indptr, nd.sparse.add(rs, rs))
    out.append(repr(csr).split("\n")[0])
    return out


def try_sparse_pickle():
    return values(pickle.loads(pickle.dumps(nd.array([[0, 1]]).tostype("csr"))))


def try_empty_and_scalar():
    out = []
    a = nd.zeros((1,), ctx=ONE)
    out += [a.asscalar(), bool(a), a.size, len(a), a.T.shape, a[0].asscalar(), list(a)[0].asscalar()]
    a[:] = 3
    a[0] = nd.array([4.0])
    a += 1
    out += [
        a.asscalar(),
        (a > 4).asscalar(),
        (1 / a).asscalar(),
        (a**2).asscalar(),
        (-a).asscalar(),
        a.expand_dims(0).shape,
    ]
    return out


def try_empty_zero():
    return nd.zeros((0, 3)).asnumpy()


def try_empty_array():
    return nd.array([]).shape


def try_concat_nothing():
    return nd.concat()


def try_concat_wrong():
    return nd.concat([])


def try_concat_one():
    return nd.concat(nd.ones((2,)), dim=0).shape


def try_add_n_nothing():
    return nd.add_n()


def try_stack_list():
    return nd.stack(*[nd.ones((2,)), nd.zeros((2,))], axis=1).shape


def try_op_wrong_type():
    return nd.relu("x")


def try_op_odd():
    return nd.ones((2,)) + Odd()


def try_op_odd_attr():
    return nd.reshape(nd.ones((2,)), shape=Odd())


def try_op_none():
    return nd.dot(nd.ones((2, 2)), None)


def try_shape_mismatch():
    return nd.dot(nd.ones((2, 3)), nd.ones((2, 3)))


def try_context_mismatch():
    return values(nd.ones((2,), ctx=ONE) + nd.ones((2,), ctx=TWO))


def try_missing_gpu():
    return nd.ones((2,), ctx=mx.gpu(0))


def try_outputs():
    out, a = nd.zeros((2,), ctx=ONE), nd.ones((2,), ctx=ONE)
    nd.add_n(a, a, out=out)
    nd.broadcast_add(a, a, out=a)
    moved = nd.zeros((2,), ctx=TWO)
    nd.identity(a, out=out)
    first, second = nd.zeros((1, 2)), nd.zeros((1, 2))
    nd.split(nd.array([[1, 2], [3, 4]]), num_outputs=2, axis=0, out=[first, second])
    nd.random.uniform(shape=(2,), out=moved)
    nd.zeros_like(a, out=moved.as_in_context(ONE))
    topk = nd.topk(nd.array([3, 1, 2]), k=2, ret_typ="both")
    return values(out, a, first, second, *topk) + [nd.random.uniform(shape=(3,), ctx=ONE).shape]


def try_copies():
    a = nd.array([1.0, 2.0], ctx=ONE)
    b = nd.zeros((2,), ctx=TWO)
    out = values(
        a.copyto(b),
        a.copyto(TWO),
        a.copy(),
        a.as_in_context(ONE),
        a.as_in_context(TWO),
        a.astype("float16"),
        a.astype("float32", copy=False),
    )
    b[:] = a
    b[0:1] = np.array([7.0])
    b[1] = 8
    a.copyto(other=b)
    return out + values(b, copy.copy(a), copy.deepcopy(a), *pickle.loads(pickle.dumps([a, b])))


def try_copy_wrong():
    nd.ones((2,)).copyto(nd.ones((3,)))


def try_copy_odd():
    nd.ones((2,)).copyto("x")


def try_indexing():
    a = nd.arange(12).reshape((3, 4))
    out = values(
        a[1],
        a[1:3],
        a[:, 1],
        a[nd.array([0, 2])],
        a[[0, 1], [1, 2]],
        a[-1, ::2],
        a[None, 0, 0:1],
        a.reshape(-1),
        a.reshape(4, 3),
        a.reshape((0, -1)),
        a.slice_axis(axis=0, begin=0, end=1),
    )
    a[1, :] = a[0]
    a[:, 0] = [9, 8, 7]
    a[nd.array([0])] = 5
    return out + values(a)


def try_indexing_wrong():
    return nd.ones((2,))[5]


def try_python_values():
    a = nd.array([[1, 2]], dtype="int32", ctx=ONE)
    return [
        str(a).replace("\n", ""),
        repr(a).replace("\n", ""),
        a.asnumpy().tolist(),
        a.astype("int64").asnumpy().dtype.name,
        a.wait_to_read(),
        f"{a.shape}",
        np.array([x.asscalar() for x in a[0]]).tolist(),
    ]


def try_bool_of_many():
    return bool(nd.ones((2,)))


def try_scalar_of_many():
    return nd.ones((2,)).asscalar()


def try_hashes():
    a = nd.ones((1,))
    return [hash(a) is not None]


def try_save_and_load():
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "x")
        a, b = nd.ones((2,), ctx=ONE), nd.array([[1]]).tostype("csr")
        nd.save(name, a)
        out = values(*nd.load(name))
        nd.save(name, [a, b])
        out += values(*nd.load(name))
        nd.save(name, {"a": a, "b": b})
        back = nd.load(name)
        out += [sorted(back), values(back["a"])]
        with open(name, "rb") as file:
            out.append(sorted(nd.load_frombuffer(file.read())))
        return out


def try_save_wrong():
    nd.save("/nowhere/at/all", nd.ones((2,)))


def try_save_odd():
    nd.save("x", [1, 2])


def try_dlpack():
    a = nd.ones((2,))
    out = values(nd.from_dlpack(a.to_dlpack_for_read()))
    return out + values(nd.from_numpy(np.ones((2,), np.float32), zero_copy=False))


def try_waits():
    a = nd.ones((2,), ctx=ONE)
    a.wait_to_read()
    nd.waitall()
    mx.nd.NDArray.wait_to_write(a) if hasattr(a, "wait_to_write") else None
    return a.asnumpy().sum()
