"""Ways of training with MXNet that few programs have."""
# ruff: noqa: PTH118, RUF005  # written as users write

import copy
import os
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from unusual import Odd
from unusual_mx_arrays import ONE, TWO, values


def net():
    made = gluon.nn.HybridSequential()
    made.add(gluon.nn.Dense(4, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(1))
    return made


def train(trainer, made, contexts, steps=2):
    data = [nd.ones((2, 3), ctx=c) for c in contexts]
    for _ in range(steps):
        with autograd.record():
            losses = [made(d).sum() for d in data]
        autograd.backward(losses)
        trainer.step(batch_size=4)


def symbol():
    data = mx.sym.var("data")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=2, name="fc"), name="softmax")


def try_trainers():
    out = []
    for store, on_store in (("device", True), ("local", False), (None, None), ("local", True)):
        mx.random.seed(1)
        made = net()
        made.initialize(mx.init.One(), ctx=[ONE, TWO])
        made.hybridize()
        trainer = gluon.Trainer(
            made.collect_params(), "adam", {"learning_rate": 0.1}, kvstore=store, update_on_kvstore=on_store
        )
        train(trainer, made, [ONE, TWO])
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "states")
            trainer.save_states(name)
            trainer.load_states(name)
            made.save_parameters(name + "p")
            made.load_parameters(name + "p", ctx=[ONE, TWO])
            made.export(name + "e")
            back = gluon.SymbolBlock.imports(
                name + "e-symbol.json", ["data"], name + "e-0000.params", ctx=ONE
            )
            out.append(np.round(values(back(nd.ones((1, 3), ctx=ONE))), 2).tolist())
        train(trainer, made, [ONE, TWO], 1)
        trainer.set_learning_rate(0.2)
        out.append(trainer.learning_rate)
    return out


def try_trainer_wrong():
    gluon.Trainer([1], "sgd")


def try_trainer_stale():
    made = net()
    made.initialize(ctx=ONE)
    gluon.Trainer(made.collect_params(), "sgd").step(1)


def try_blocks():
    made = net()
    made.initialize(mx.init.One(), ctx=ONE)
    out = values(made(nd.ones((2, 3), ctx=ONE)))
    made.hybridize(static_alloc=True, static_shape=True)
    out += values(made(nd.ones((2, 3), ctx=ONE)), made(nd.ones((3, 3), ctx=ONE)))

    class Own(gluon.HybridBlock):
        def hybrid_forward(self, F, x, y=None, *, scale=2):
            return [x * scale, None if y is None else F.broadcast_add(x, y)] if y is not None else x * scale

    own = Own()
    own.hybridize()
    out += values(own(nd.ones((1,))))
    other = Own()
    out += values(*other(nd.ones((1,)), nd.ones((1,))))
    cell = gluon.rnn.LSTM(2)
    cell.initialize(mx.init.One())
    out.append(cell(nd.ones((1, 1, 2))).shape)
    out.append(str(gluon.utils.split_and_load(nd.arange(4), [ONE, TWO])[1].context))
    out.append(float(gluon.utils.clip_global_norm([nd.ones((2,)) * 3], 1.0)) > 4)
    loader = gluon.data.DataLoader(
        gluon.data.ArrayDataset(np.arange(4, dtype=np.float32)), batch_size=2, num_workers=0
    )
    out += [values(b) for b in loader]
    return out


def try_block_not_initialised():
    net()(nd.ones((1, 3)))


def try_block_wrong_context():
    made = net()
    made.initialize(ctx=ONE)
    return made(nd.ones((1, 3), ctx=TWO))


def try_hybrid_wrong_context():
    made = net()
    made.initialize(ctx=ONE)
    made(nd.ones((1, 3), ctx=ONE))
    made.hybridize()
    return made(nd.ones((1, 3), ctx=TWO))


def try_stores_by_number():
    out = []
    for kind in ("local", "device"):
        kv = mx.kv.create(kind)
        kv.init(3, nd.ones((2,)))
        kv.init((4, 5), (nd.ones((2,)), nd.ones((2,))))
        a, b = nd.zeros((2,), ctx=ONE), nd.zeros((2,), ctx=TWO)
        kv.pull(3, out=a)
        kv.push(3, [nd.ones((2,), ctx=ONE), nd.ones((2,), ctx=TWO)])
        kv.pull(key=3, out=[a, b])
        kv.push([4, 4], [a, b])
        kv.push(key=[4, 5], value=[[a, b], b], priority=1)
        kv.pull([4, 5], [[a, b], a])
        out += values(a, b)

        def update(key, merged, stored):
            stored += merged * 2

        kv._set_updater(update)
        kv.push(3, nd.ones((2,)))
        kv.pull(3, out=a)
        out += values(a)
        kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.5, momentum=0.9))
        kv.push(3, nd.ones((2,)))
        kv.pull(3, a)
        out += values(a) + [kv.type, kv.rank, kv.num_workers]
        with tempfile.TemporaryDirectory() as folder:
            kv.save_optimizer_states(os.path.join(folder, "s"), dump_optimizer=True)
            kv.load_optimizer_states(os.path.join(folder, "s"))
            out.append(type(kv._updater).__name__)
    return out


def try_stores_by_name():
    kv = mx.kv.create("device")
    kv.init(["a", "b"], [nd.ones((2,)), nd.zeros((2,))])
    a, b = nd.zeros((2,), ctx=ONE), nd.zeros((2,), ctx=TWO)
    kv.push(["a", "b"], [[a, b], [b]], priority=-1)
    kv.pull(["a", "b"], [[a, b], b])
    out = values(a, b)
    kv.pushpull("a", [a, b], out=[a, b])
    kv.pushpull("a", a)
    kv.broadcast("c", nd.ones((2,)), out=[a, b])
    out += values(a, b)
    kv.init("s", nd.sparse.zeros("row_sparse", (3, 2)))
    kv.push("s", nd.ones((3, 2)).tostype("row_sparse"))
    rows = nd.sparse.zeros("row_sparse", (3, 2))
    kv.row_sparse_pull("s", out=rows, row_ids=nd.array([0, 2]))
    return out + values(rows)


def try_store_short():
    mx.kv.create("local").push("a")


def try_store_pull_nothing():
    kv = mx.kv.create("local")
    kv.init("a", nd.ones((2,)))
    kv.pull("a")


def try_store_unknown_key():
    kv = mx.kv.create("local")
    kv.push(9, nd.ones((2,)))


def try_store_wrong_key():
    mx.kv.create("local").init(1.5, nd.ones((2,)))


def try_store_odd_key():
    mx.kv.create("local").init(Odd(), nd.ones((2,)))


def try_store_twice():
    kv = mx.kv.create("local")
    kv.init("a", nd.ones((2,)))
    kv.init("a", nd.ones((2,)))


def try_store_updater_raises():
    kv = mx.kv.create("local")
    kv._set_updater(None)
    kv.save_optimizer_states("nothing")


def try_modules():
    out = []
    batches = mx.io.NDArrayIter(
        np.ones((4, 3), np.float32), np.zeros(4, np.float32), batch_size=2, label_name="softmax_label"
    )
    module = mx.mod.Module(symbol(), context=[ONE, TWO])
    module.fit(
        batches,
        num_epoch=1,
        initializer=mx.init.One(),
        optimizer_params={"learning_rate": 0.1},
        kvstore="device",
        eval_metric="acc",
    )
    out.append(module.predict(batches).shape)
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "m")
        module.save_checkpoint(prefix, 1, save_optimizer_states=True)
        other = mx.mod.Module.load(prefix, 1, load_optimizer_states=True, context=ONE)
        other.bind(batches.provide_data, batches.provide_label)
        other.init_optimizer()
        batches.reset()
        batch = next(batches)
        other.forward_backward(batch)
        other.update()
        other.reshape([("data", (1, 3))], [("softmax_label", (1,))])
        out.append(other.get_outputs()[0].shape)

    def generate(key):
        return symbol(), ("data",), ("softmax_label",)

    bucketing = mx.mod.BucketingModule(generate, default_bucket_key=3, context=ONE)
    bucketing.bind([("data", (2, 3))], [("softmax_label", (2,))])
    bucketing.init_params(mx.init.One())
    bucketing.init_optimizer()
    for key in (3, 3):
        bucketing.forward_backward(
            mx.io.DataBatch(
                [nd.ones((2, 3))],
                [nd.zeros((2,))],
                bucket_key=key,
                provide_data=[("data", (2, 3))],
                provide_label=[("softmax_label", (2,))],
            )
        )
        bucketing.update()
    chain = mx.mod.SequentialModule()
    chain.add(
        mx.mod.Module(
            mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3, name="f1"), label_names=None, context=ONE
        )
    ).add(mx.mod.Module(symbol(), context=ONE), take_labels=True, auto_wiring=True)
    chain.bind(batches.provide_data, batches.provide_label)
    chain.init_params(mx.init.One())
    chain.init_optimizer()
    batches.reset()
    chain.forward_backward(next(batches))
    chain.update()
    out.append(np.round(values(chain.get_outputs()[0]), 2).tolist())
    return out


def try_executors():
    s = symbol()
    bound = s.simple_bind(
        ctx=ONE,
        data=(2, 3),
        grad_req={"fc_weight": "write", "fc_bias": "add", "data": "null", "softmax_label": "null"},
    )
    out = [bound.forward(is_train=True, data=nd.ones((2, 3)))[0].shape]
    bound.backward()
    out += values(bound.grad_dict["fc_weight"], *bound.outputs)
    again = bound.reshape(data=(1, 3), partial_shaping=True, allow_up_sizing=True)
    out.append(again.forward()[0].shape)
    listed = (mx.sym.var("a") + mx.sym.var("b")).bind(
        ONE, [nd.ones((2,), ctx=ONE), nd.ones((2,), ctx=ONE)], args_grad=None
    )
    out += values(listed.forward()[0], listed.output_dict[listed._symbol.list_outputs()[0]])
    grouped = mx.sym.Group([mx.sym.var("a") * 2, mx.sym.var("a") + 1])
    out += values(*grouped.eval(ctx=ONE, a=nd.ones((1,), ctx=ONE)))
    out += values(*mx.sym.var("q").bind(ONE, {"q": nd.ones((1,), ctx=ONE)}).forward())
    loaded = mx.sym.load_json(s.tojson())
    out.append(loaded.list_arguments())
    out.append(copy.deepcopy(s).list_outputs())
    with mx.AttrScope(ctx_group="one"):
        p = mx.sym.var("p") * 2
    with mx.AttrScope(ctx_group="two"):
        q = p + 1
    bound = q.bind(mx.cpu(0), {"p": nd.ones((1,), ctx=ONE)}, group2ctx={"one": ONE, "two": TWO})
    return out + values(bound.forward()[0])


def try_executor_missing():
    symbol().bind(ONE, {"data": nd.ones((2, 3))})


def try_executor_wrong_context():
    symbol().simple_bind("x", data=(2, 3))


def try_executor_gpu():
    symbol().simple_bind(mx.gpu(0), data=(2, 3))


def try_optimizers():
    out = []
    for name in ("sgd", "adam", "nag", "rmsprop", "ftrl", "adagrad", "signum", "lamb"):
        updater = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=0.1))
        w, g = nd.ones((2,), ctx=ONE), nd.ones((2,), ctx=ONE)
        updater(0, g, w)
        updater(index=1, grad=g, weight=w)
        updater([2, 3], [g, g], [w, w])
        updater("name", g, w)
        updater.set_states(updater.get_states(dump_optimizer=True))
        out += np.round(values(w), 3).tolist()
    return out


def try_updater_odd():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    updater(Odd(), nd.ones((1,)), nd.ones((1,)))


def try_updater_unhashable():
    updater = mx.optimizer.get_updater(mx.optimizer.create("sgd"))
    updater([[0]], [nd.ones((1,))], [nd.ones((1,))])


def try_updater_short():
    mx.optimizer.get_updater(mx.optimizer.create("sgd"))(0, nd.ones((1,)))
