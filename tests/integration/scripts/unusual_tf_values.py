"""Values, variables and conversions of TensorFlow's that few programs have."""
# ruff: noqa: UP031, PLW0108  # written as users write

import collections
import copy
import pickle
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_resource_variable_ops, resource_variable_ops
from unusual import Odd
from unusual_tf_training import Plain


def try_uninitialized():
    return resource_variable_ops.UninitializedVariable(shape=[2], dtype=tf.float32, name="u").numpy()


def try_variables():
    out = []
    out.append(tf.Variable(1.0, shape=None).shape)
    out.append(tf.Variable([1.0], shape=tf.TensorShape(None)).shape)
    out.append(tf.Variable(["x"], dtype=tf.string).numpy())
    out.append(tf.Variable(lambda: tf.ones([2])).shape)
    out.append(tf.Variable(tf.ones([2], tf.bfloat16)).dtype)
    out.append(tf.Variable(np.ones([0, 3], np.complex64)).shape)
    out.append(tf.Variable(1, dtype="float32").dtype)
    out.append(tf.Variable([[1, 2]], dtype=np.float16).dtype)
    out.append(
        tf.Variable([True, False], trainable=False, name="odd name with spaces", validate_shape=False).dtype
    )
    out.append(
        tf.Variable(
            3.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.MEAN
        ).shape
    )
    out.append(resource_variable_ops.UninitializedVariable(shape=[2], dtype=tf.float32).shape)
    out.append(
        resource_variable_ops.UninitializedVariable(
            shape=tf.TensorShape([2, None]).as_proto(), dtype=tf.float32.as_datatype_enum
        ).dtype
    )
    make = resource_variable_ops._variable_handle_from_shape_and_dtype
    out.append(make(shape=(2, 3), dtype=tf.float32, shared_name=None, name="n", graph_mode=False).dtype)
    out.append(make([2, 3], "float32", None, None, False).dtype)
    out.append(make(None, 1, None, b"bytes", False).dtype)
    return [str(one) for one in out]


def try_variable_copies():
    v = tf.Variable([[1.0, 2.0]], name="v")
    w = copy.deepcopy(v)
    w.assign_add([[1.0, 1.0]])
    model = tf.keras.Sequential(
        [tf.keras.layers.Input([3]), tf.keras.layers.Dense(2, kernel_initializer="ones")]
    )
    other = copy.deepcopy(model)
    net = copy.deepcopy(Plain())
    return [v.numpy().tolist(), w.numpy().tolist(), len(other.weights), float(net.w)]


def try_pickles():
    t = tf.constant([1.0, 2.0])
    data = pickle.loads(pickle.dumps({"t": t, "n": t.numpy()}))
    with tf.device("CPU:1"):
        moved = tf.identity(t) * 2
    return [
        data["t"].numpy().tolist(),
        data["n"].tolist(),
        copy.copy(moved).numpy().tolist(),
        copy.deepcopy(moved).numpy().tolist(),
    ]


def try_pickle_variable():
    return pickle.loads(pickle.dumps(tf.Variable([1.0])))


def try_raw_ops():
    v = tf.Variable([1.0, 2.0])
    tf.raw_ops.AssignVariableOp(resource=v.handle, value=tf.constant([3.0, 4.0]))
    tf.raw_ops.AssignSubVariableOp(resource=v.handle, value=[1.0, 1.0])
    gen_resource_variable_ops.assign_add_variable_op(resource=v.handle, value=tf.constant([1.0, 1.0]))
    tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.5, delta=tf.constant([2.0, 2.0]))
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="raw", container="")
    tf.raw_ops.AssignVariableOp(resource=handle, value=v.read_value())
    out = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    return [v.numpy().tolist(), out.numpy().tolist(), tf.raw_ops.Add(x=1, y=2).numpy()]


def try_raw_ops_wrong():
    tf.raw_ops.AssignVariableOp(tf.Variable(1.0).handle, 1.0)


def try_gen_op_wrong():
    gen_resource_variable_ops.assign_variable_op(Odd(), Odd())


def try_gen_op_none():
    gen_resource_variable_ops.assign_variable_op()


def try_ragged_and_sparse():
    r = tf.ragged.constant([[1, 2], [], [3]])
    s = tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]])
    with tf.device("CPU:1"):
        total = tf.reduce_sum(r, axis=1)
        dense = tf.sparse.sparse_dense_matmul(s, tf.ones([2, 2]))
    i = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0]), tf.constant([2, 2]))
    return [
        str(r.to_list()),
        total.numpy().tolist(),
        dense.numpy().tolist(),
        tf.convert_to_tensor(i).numpy().tolist(),
        str(s),
        repr(r),
    ]


def try_ragged_numpy():
    return str(tf.ragged.constant([[1], [2, 3]]).numpy().tolist())


def try_variants():
    out = []
    array = tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    out.append(array.stack().numpy().tolist())
    handle = tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32)
    handle = tf.raw_ops.TensorListSetItem(input_handle=handle, index=0, item=tf.ones([2]))
    with tf.device("CPU:1"):
        out.append(
            tf.raw_ops.TensorListGetItem(
                input_handle=handle, index=0, element_shape=[2], element_dtype=tf.float32
            )
            .numpy()
            .tolist()
        )
    out.append(str(handle.dtype) + str(handle.shape))
    optional = tf.experimental.Optional.from_value(tf.constant(3))
    out.append(int(optional.get_value()))
    return out


def try_variant_numpy():
    return tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32).numpy()


def try_resource_numpy():
    return tf.Variable(1.0).handle.numpy()


def try_resource_text():
    return re.sub(r"\d+|0x\w+", "#", str(tf.Variable(1.0).handle))[:60]


def try_tables():
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    m = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)
    m.insert(5, 1.5)
    e = (
        tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        if hasattr(tf.lookup.experimental, "MutableHashTable")
        else None
    )
    if e is not None:
        e.insert(["q"], [4])
    return [
        t.lookup(tf.constant(["a", "z"])).numpy().tolist(),
        m.lookup(5).numpy().tolist(),
        int(t.size()),
        None if e is None else e.lookup(tf.constant(["q"])).numpy().tolist(),
    ]


def try_arrays():
    t = tf.constant([[1.5, 2.5]])
    with tf.device("CPU:1"):
        d = t * 2
    out = [t.__array__(np.float64).dtype, d.__array__(dtype=np.int32).tolist(), np.asarray(d).tolist()]
    out += [
        np.array(t, dtype=np.int64).tolist(),
        np.asarray(tf.constant("x")),
        np.asarray(tf.constant([True])),
    ]
    out += [
        memoryview(t).shape,
        bytes(memoryview(tf.constant([1, 2], tf.uint8))),
        np.frombuffer(tf.constant([1.0]), np.float32).tolist(),
    ]
    out += [
        list(tf.constant([1, 2]).numpy()),
        [int(i) for i in tf.constant([1, 2])],
        range(3)[tf.constant(1)],
        "%d" % tf.constant(3),
        f"{tf.constant(1.5):.2f}",
    ]
    out += [
        round(float(tf.constant(1.26)), 1),
        len(t),
        bool(tf.constant(1)),
        hash(t.ref()) is not None,
        t.ref() in {t.ref(): 1},
    ]
    out += [np.mean(t), np.add(t, 1).tolist(), np.float32(2) * tf.constant(2.0), 1]
    out += [
        tf.constant(np.arange(6).reshape(2, 3)[:, ::-1]).numpy().tolist(),
        tf.constant(np.matrix([[1, 2]])).shape,
        tf.constant(t).numpy().tolist(),
    ]
    return [str(one) for one in out]


def try_string_memoryview():
    return memoryview(tf.constant("x"))


def try_tensor_hash():
    return hash(tf.constant(1))


def try_tensor_bool():
    return bool(tf.constant([1, 2]))


def try_convert_odd():
    return tf.constant(Odd())


def try_convert_odd_list():
    return tf.constant([1.0, Odd()])


def try_convert_none():
    return tf.constant(None)


def try_op_odd():
    return tf.add(tf.constant(1.0), Odd())


def try_op_dtype_mismatch():
    return tf.add(tf.constant(1.0), tf.constant(1))


def try_tensor_like():
    class Like:
        def __array__(self, dtype=None, copy=None):
            return np.ones([2], np.float32)

    class TfLike:
        def __tf_tensor__(self, dtype=None, name=None):
            return tf.ones([2])

    class Sub(np.ndarray):
        def __array_finalize__(self, obj):
            pass

    Pair = collections.namedtuple("Pair", "a b")
    out = [tf.add(Like(), 1.0).numpy().tolist(), tf.constant(np.ones(2).view(Sub)).numpy().tolist()]
    out.append(tf.nest.map_structure(lambda x: float(x), Pair(tf.constant(1.0), np.float32(2))))
    out.append(tf.convert_to_tensor(Like()).numpy().tolist())
    out.append(tf.stack(Pair(1.0, tf.constant(2.0))).numpy().tolist())
    return str(out)


def try_dlpack():
    with tf.device("CPU:0"):
        capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1.0, 2.0]))
    return (tf.experimental.dlpack.from_dlpack(capsule) + 1).numpy().tolist()


def try_numpy_api():
    import tensorflow.experimental.numpy as tnp

    return [
        tnp.ones([2]).tolist() if hasattr(tnp.ones([2]), "tolist") else tnp.ones([2]).numpy().tolist(),
        float(tnp.sum(tnp.arange(3.0))),
    ]


def try_copies():
    t = tf.constant([1.0])
    out = [t.cpu().numpy().tolist()]
    with tf.device("CPU:1"):
        u = tf.identity(t)
        out.append(u.cpu().numpy().tolist())
    out.append(u._copy().numpy().tolist())
    out.append(t._copy(device_name="CPU:2").numpy().tolist())
    return out


def try_gpu_missing():
    return tf.constant([1.0]).gpu()


def try_colocated():
    with tf.device("CPU:1"):
        v = tf.Variable([1.0])
    with tf.compat.v1.colocate_with(v):
        a = tf.ones([1])
    return [a.device[-5:], v.device[-5:]]
