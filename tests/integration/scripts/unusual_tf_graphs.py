"""Graphs, sessions, functions and devices of TensorFlow's that few programs have."""
# ruff: noqa: PTH103, PTH106, PTH109  # written as users write

import functools
import os
import tempfile
import threading

import numpy as np
import tensorflow as tf
from unusual import OddThread
from unusual_tf_training import Net, Plain


def try_compat_variables():
    out = []
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        a = tf.compat.v1.get_variable("a", [2, 2], initializer=tf.compat.v1.ones_initializer())
        b = tf.compat.v1.Variable([1.0, 2.0], validate_shape=False, name="b", use_resource=False)
        c = tf.compat.v1.Variable([1.0, 2.0], use_resource=True, dtype=tf.float64)
        d = tf.compat.v1.placeholder_with_default([[3.0]], [None, None])
        session.run(tf.compat.v1.global_variables_initializer())
        out.append(session.run([a, b, c, {"d": d, "n": None or d}], {d: [[5.0]]}))
        try:
            session.run(tf.compat.v1.get_variable("z", [1]))
        except tf.errors.FailedPreconditionError as error:
            out.append(type(error).__name__)
        out.append(session.make_callable(a + 1)())
        out.append(session.make_callable([a, b], feed_list=[d])([[1.0]]))
        handle = session.partial_run_setup([d * 2], [d])
        out.append(session.partial_run(handle, [], {d: [[2.0]]}))
    return [str(one) for one in out]


def try_compat_session_feeds():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        s = tf.compat.v1.sparse_placeholder(tf.float32)
        value = tf.compat.v1.SparseTensorValue([[0, 0]], [2.0], [2, 2])
        t = tf.compat.v1.placeholder(tf.string)
        r = tf.compat.v1.ragged.placeholder(tf.int32, 1)
        rv = tf.compat.v1.ragged.constant_value([[1, 2], [3]], dtype=np.int32)
        got = session.run([tf.sparse.to_dense(s), t, r.values], {s: value, t: "x", r: rv})
        return [np.asarray(one).tolist() for one in got]


def try_compat_session_errors():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        y = tf.debugging.check_numerics(x / 0.0, "bad")
        with tf.control_dependencies([y]):
            z = tf.identity(x)
        session.run(z, feed_dict={x: [1.0, 2.0]})


def try_python_functions():
    def twice(x):
        return x.numpy() * 2

    def none():
        return np.float32(4)

    out = [tf.py_function(twice, [tf.constant([1.0])], tf.float32).numpy().tolist()]
    out.append(tf.numpy_function(lambda x: x + 1, [tf.constant([1.0])], tf.float32).numpy().tolist())
    out.append(float(tf.py_function(none, [], tf.float32)))
    out.append(
        tf.py_function(lambda r: int(tf.reduce_sum(r)), [tf.ragged.constant([[1], [2, 3]])], tf.int32)
        .numpy()
        .tolist()
    )
    out.append(tf.compat.v1.py_func(lambda x: x + 1, [1.0], tf.float32).numpy().tolist())

    @tf.function
    def graph(x):
        with tf.device("CPU:1"):
            a = tf.py_function(twice, [x], tf.float32)
            b = tf.numpy_function(lambda s: s, [tf.constant("s")], tf.string)
            tf.py_function(lambda: None, [], [])
        return a, b

    out.append([np.asarray(one).tolist() for one in graph(tf.constant([3.0]))])
    return str(out)


def try_python_function_raises():
    @tf.function
    def graph(x):
        return tf.py_function(lambda y: {}["mine"], [x], tf.float32)

    graph(tf.constant(1.0))


def try_devices():
    out = []
    with tf.device(None):
        out.append(tf.constant(1.0).device[-5:])
    with tf.device("CPU:1") as entered:
        out.append(type(entered).__name__)
        with tf.device(""):
            out.append(tf.ones([1]).device[-5:])
    with tf.Graph().as_default():
        with tf.compat.v1.device(lambda op: "/cpu:2"):
            out.append(tf.constant(1.0).device)
        with tf.compat.v1.device(tf.DeviceSpec(device_type="CPU", device_index=1)):
            out.append(tf.constant(1.0).device)

        @tf.device("/cpu:1")
        def made():
            return tf.constant(2.0).device

        out.append(made())
    with tf.device(tf.config.list_logical_devices()[1].name):
        out.append(tf.ones([1]).device[-5:])
    return [str(one) for one in out]


def try_device_wrong():
    with tf.device("nonsense"):
        tf.constant(1.0) + 1


def try_device_missing():
    with tf.device("CPU:9"):
        return tf.constant(1.0) + 1


def try_device_decorator():
    @tf.device("CPU:1")
    def f():
        return 1

    return f()


def try_device_lambda():
    with tf.device(lambda op: "CPU:1"):
        return tf.constant(1.0)


def try_functions():
    v = tf.Variable(1.0)

    @tf.function(reduce_retracing=True)
    def f(x, *, training=False, mode=None):
        if training:
            v.assign_add(1.0)
        return {"y": x * v, "n": None, "m": mode}

    @tf.function(jit_compile=True)
    def jitted(x):
        return x * 2 + 1

    @tf.function(autograph=False)
    def empty():
        pass

    out = [
        float(f(tf.constant(2.0), training=True)["y"]),
        float(f(3.0)["y"]),
        float(f(np.float32(4), mode="x")["y"]),
        empty(),
        float(jitted(tf.constant(1.0))),
    ]
    concrete = f.get_concrete_function(tf.TensorSpec([None]), training=False)
    out.append(concrete(x=tf.constant([1.0, 2.0]))["y"].numpy().tolist())
    out.append(tf.map_fn(lambda x: x * 2, tf.constant([1.0, 2.0])).numpy().tolist())
    out.append(float(tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [tf.constant(0.0)])[0]))
    out.append(tf.vectorized_map(lambda x: x * v, tf.constant([1.0, 2.0])).numpy().tolist())
    out.append(
        [float(one) for one in tf.switch_case(tf.constant(1), [lambda: [1.0], lambda: [tf.constant(2.0)]])]
    )
    out.append(
        f.pretty_printed_concrete_signatures() is not None
        if hasattr(f, "pretty_printed_concrete_signatures")
        else True
    )
    bound = tf.function(Plain.__init__)
    out.append(type(bound).__name__)
    return str(out)


def try_function_raises():
    @tf.function
    def f(x):
        raise KeyError("mine")

    f(tf.constant(1.0))


def try_function_asserts():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, "not so")
        return x

    f(tf.constant(-1.0))


def try_function_of_wrapped():
    def deco(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            if tf.reduce_sum(args[0]) > 0:
                return fn(*args, **kwargs)
            return -args[0]

        return inner

    @tf.function
    @deco
    def f(x):
        return x * 2

    g = tf.function(functools.partial(lambda a, b: a + b, b=2.0))
    h = tf.function(lambda x: x + 1)
    out = [float(f(tf.constant(1.0))), float(g(1.0)), float(h(1.0))]

    class Call:
        def __call__(self, x):
            return x * 5

        @tf.function
        def method(self, x):
            return x * 6

    out += [float(tf.function(Call())(2.0)), float(Call().method(tf.constant(1.0)))]
    return out


def try_datasets():
    data = tf.data.Dataset.from_generator(
        lambda: iter([1, 2, 3]), output_signature=tf.TensorSpec([], tf.int32)
    )
    data = data.map(lambda x: tf.py_function(lambda y: y + 1, [x], tf.int32)).batch(2)
    out = [b.numpy().tolist() for b in data]
    data = tf.data.Dataset.from_tensor_slices({"a": tf.ragged.constant([[1], [2, 3]]), "b": ["x", "y"]})
    out += [str(b["a"].to_list() if hasattr(b["a"], "to_list") else b["a"].numpy().tolist()) for b in data]
    out += [next(iter(tf.data.Dataset.range(3).as_numpy_iterator()))]
    it = iter(tf.data.Dataset.range(1))
    next(it)
    try:
        next(it)
    except StopIteration:
        out.append("over")
    return str(out)


def try_rewired_loader():
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Net(), folder)
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            meta = tf.compat.v1.saved_model.load(session, ["serve"], folder)
            wrapped = sorted(meta.signature_def)
        v1 = tf.compat.v1.wrap_function(
            lambda x: x * tf.compat.v1.get_variable("q", [], initializer=tf.compat.v1.ones_initializer()),
            [tf.TensorSpec([])],
        )
        return [wrapped, float(v1(tf.constant(2.0)))]


def try_op_callbacks():
    """What a program's callbacks are given while a graph is made, and what comes of what they return."""
    from tensorflow.python.framework import op_callbacks

    given = []

    def build(*callbacks):
        given.clear()
        for one in callbacks:
            op_callbacks.add_op_callback(one)
        try:
            with tf.Graph().as_default() as graph:
                parts = tf.split(tf.constant([1.0, 2.0]), 2)
            return type(parts).__name__, [op.type for op in graph.get_operations()], list(given)
        finally:
            for one in callbacks:
                op_callbacks.remove_op_callback(one)

    def sees(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        if graph is not None:
            given.append((op_type, type(outputs).__name__))

    def returns(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        sees(op_type, inputs, attrs, outputs, op_name, graph)
        return outputs

    return [build(), build(sees), build(returns), build(returns, sees), build(returns, returns)]


def try_gone_folder():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.rmdir(folder)
        try:
            space = {"tf": tf}
            exec(
                compile(
                    "def f():\n    return float(tf.ones([2]).numpy().sum() + tf.Variable(2.0).numpy())\n",
                    "made-up.py",
                    "exec",
                ),
                space,
            )
            exec(
                compile(
                    "tf.add(1.0, 2.0); v = tf.Variable(1.0)",
                    "<made>",
                    "exec",
                ),
                space,
            )
            with tf.device("CPU:1"):
                result = space["f"]()
            thread = threading.Thread(
                target=eval(compile("lambda: tf.ones([3]) + 1", "other.py", "eval"), space)
            )
            thread.start()
            thread.join()
        finally:
            os.chdir(here)
            os.makedirs(folder, exist_ok=True)
    return result


def try_threads():
    out = []

    class Mine(OddThread):
        def run(self):
            with tf.device("CPU:1"):
                out.append(float(tf.ones([]) * 2))

    class Unnamed(Mine):
        @property
        def name(self):
            raise RuntimeError("no name")

    for kind in (Mine, Unnamed):
        thread = kind()
        thread.start()
        thread.join()
    return out


def try_check_numerics_on():
    tf.debugging.enable_check_numerics()
    try:
        return tf.math.log(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()
