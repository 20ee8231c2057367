"""Ways of training and of saving in TensorFlow that few programs have."""
# ruff: noqa: PTH118, B023, B905, E741  # written as users write

import os
import tempfile
import threading

import numpy as np
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration() for _ in range(3)]
)
groups = []


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones([3, 4]), name="w")
        self.n = tf.Variable(7, dtype=tf.int64)
        self.s = tf.Variable(["a", "b"])
        self.u = tf.Variable(tf.ones([2, 2]), shape=tf.TensorShape(None))
        self.v = tf.Variable(tf.ones([2, 2]), shape=tf.TensorShape([None, 2]))
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["x"], [1]), -1)

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def __call__(self, x):
        return tf.reduce_sum(x @ self.w) + tf.cast(self.n, tf.float32)


class Plain(tf.Module):
    __slots__ = ("extra",)

    def __init__(self):
        super().__init__("plain")
        self.w = tf.Variable(2.0)
        self.extra = 1


def try_saved_model():
    out = []
    with tempfile.TemporaryDirectory() as folder:
        net = Net()
        tf.saved_model.save(net, folder, signatures=net.__call__.get_concrete_function())
        for device in ("CPU:0", "CPU:1"):
            with tf.device(device):
                back = tf.saved_model.load(folder)
            out.append(float(back(tf.ones([2, 3]))))
            out.append(float(back.signatures["serving_default"](x=tf.ones([2, 3]))["output_0"]))
            with tf.GradientTape() as tape:
                loss = back(tf.ones([2, 3]))
            out.append(float(tf.reduce_sum(tape.gradient(loss, back.w))))
            back.w.assign_sub(tf.ones([3, 4]))
            out += [back.s.numpy().tolist(), back.u.shape.rank, back.v.shape.as_list()]
    return out


def try_saved_model_trained_on_two():
    out = []
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Net(), folder)
        towers = []
        for device in ("CPU:1", "CPU:2"):
            with tf.device(device):
                towers.append(tf.saved_model.load(folder))
        for _ in range(3):
            for tower in towers:
                with tf.GradientTape() as tape:
                    loss = tower(tf.ones([2, 3]))
                tower.w.assign_sub(0.1 * tape.gradient(loss, tower.w))
        out = [float(tf.reduce_sum(tower.w)) for tower in towers]
    return out


def try_keras_saved():
    with tempfile.TemporaryDirectory() as folder:
        model = tf.keras.Sequential(
            [tf.keras.layers.Input([3]), tf.keras.layers.Dense(2, kernel_initializer="ones")]
        )
        model.export(folder, verbose=False) if hasattr(model, "export") else model.save(folder)
        back = tf.saved_model.load(folder)
        return np.asarray(back.serve(tf.ones([1, 3]))).tolist()


def try_checkpoints():
    with tempfile.TemporaryDirectory() as folder:
        net = Plain()
        point = tf.train.Checkpoint(net=net, step=tf.Variable(1))
        path = point.save(os.path.join(folder, "c"))
        net.w.assign(9.0)
        point.restore(path).assert_existing_objects_matched()
        fresh = tf.train.Checkpoint(net=tf.Module())
        fresh.restore(path).expect_partial()
        fresh.net.w = tf.Variable(0.0)
        return [float(net.w), float(fresh.net.w), tf.train.list_variables(path)[0][0]]


def try_custom_gradients():
    @tf.custom_gradient
    def f(x, *, scale=2.0):
        def grad(dy):
            return dy * scale

        return x * 10, grad

    @tf.custom_gradient
    def g(x):
        def grad(dy, variables=None):
            return dy * 3, [tf.ones_like(v) for v in variables]

        return x * v, grad

    v = tf.Variable(2.0)
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
        z = g(x)
    out = [float(tape.gradient(y, x)), [float(one) for one in tape.gradient(z, [x, v])], tape.gradient(y, v)]
    out.append(float(tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)))
    return out


def try_custom_gradient_raises():
    @tf.custom_gradient
    def f(x):
        def grad(dy):
            raise KeyError("mine")

        return x, grad

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = f(x)
    tape.gradient(y, x)


def try_tapes():
    x = tf.Variable([1.0, 2.0])
    c = tf.constant(2.0)
    out = []
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([x, c])
        with tf.GradientTape() as inner:
            inner.watch(c)
            y = tf.reduce_sum(x**2) * c
        g = inner.gradient(y, {"x": x, "c": c})
    out.append({k: np.asarray(v).tolist() for k, v in g.items()})
    with tf.GradientTape() as tape:
        table = tf.gather(x, [0, 0])
        l = tf.reduce_sum(table)
    out.append(type(tape.gradient(l, x)).__name__)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = tf.stack([c * 1.0, c * 2.0])
    out.append(tape.jacobian(y, c).numpy().tolist())
    with tf.autodiff.ForwardAccumulator(c, tf.constant(1.0)) as acc:
        y = c * c
    out.append(float(acc.jvp(y)))
    return out


def try_tape_wrong():
    with tf.GradientTape() as tape:
        y = 1.0
    tape.gradient(y, "x")


def try_strategies():
    out = []
    for make in (
        lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]),
        lambda: tf.distribute.OneDeviceStrategy("CPU:1"),
        tf.distribute.get_strategy,
        lambda: tf.distribute.experimental.CentralStorageStrategy(["CPU:1", "CPU:2"]),
        lambda: tf.distribute.MirroredStrategy(
            ["CPU:1", "CPU:2"], cross_device_ops=tf.distribute.ReductionToOneDevice()
        ),
    ):
        strategy = make()
        with strategy.scope():
            v = tf.Variable(1.0, aggregation=tf.VariableAggregation.SUM)
            o = tf.Variable(
                0.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
            )

        try:

            def replica(x):
                o.assign_add(1.0)
                context = tf.distribute.get_replica_context()
                y = x * tf.cast(context.replica_id_in_sync_group + 1, tf.float32)
                total = context.all_reduce("sum", y)
                return total + context.all_reduce(tf.distribute.ReduceOp.SUM, [y, y * 2])[1]

            result = strategy.run(replica, (tf.constant(2.0),))
            out.append([float(one) for one in strategy.experimental_local_results(result)])
            per = strategy.experimental_distribute_values_from_function(
                lambda c: tf.constant(float(c.replica_id_in_sync_group))
            )
            out.append(float(strategy.reduce("MEAN", per, axis=None)))
            out.append(float(o.read_value()))
            v.assign(3.0)
            out.append(float(v.read_value()))
            out.append(
                [
                    float(one)
                    for one in strategy.experimental_local_results(
                        strategy.run(tf.function(replica), args=(1.0 * tf.ones([]),))
                    )
                ]
            )
        except Exception as error:  # noqa: BLE001 - what it raises is compared
            out.append(f"{type(error).__name__}: {error}"[:80])
    return out


def try_strategy_in_replica_error():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def replica():
        raise KeyError("mine")

    strategy.run(replica)


def try_optimizers():
    out = []
    for name in ("SGD", "Adam", "Adagrad", "Ftrl"):
        v = tf.Variable([1.0, 2.0])
        table = tf.Variable(tf.ones([3, 2]))
        optimizer = getattr(tf.keras.optimizers, name)(learning_rate=0.1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v) + tf.reduce_sum(tf.gather(table, [0, 0]))
        optimizer.apply_gradients(zip(tape.gradient(loss, [v, table]), [v, table]))
        out.append(np.round(v.numpy(), 4).tolist())
    v = tf.Variable([1.0, 2.0])
    old = tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)
    old.apply_gradients([(tf.ones([2]), v)])
    old.minimize(lambda: tf.reduce_sum(v), var_list=[v])
    out.append(np.round(v.numpy(), 4).tolist())
    return out


def try_optimizer_wrong():
    tf.keras.optimizers.SGD().apply_gradients([(None, tf.Variable(1.0))])


def try_collectives():
    from tensorflow.python.ops import collective_ops

    out = {}

    def member(n):
        with tf.device(f"CPU:{n}"):
            out[n] = (
                collective_ops.all_reduce(
                    t=tf.ones([2]),
                    group_size=2,
                    group_key=500 + len(groups),
                    instance_key=1,
                    merge_op="Add",
                    final_op="Id",
                )
                .numpy()
                .tolist()
            )

    groups.append(None)
    threads = [threading.Thread(target=member, args=(n,)) for n in (0, 1)]
    [one.start() for one in threads]
    [one.join(20) for one in threads]
    return sorted(out.items())


def try_reduces():
    from tensorflow.python.distribute import cross_device_ops

    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    value = strategy.run(lambda: tf.constant(2.0))
    ops = cross_device_ops.ReductionToOneDevice()
    got = ops.reduce(tf.distribute.ReduceOp.SUM, per_replica_value=value, destinations="CPU:0")
    return float(strategy.experimental_local_results(got)[0])
