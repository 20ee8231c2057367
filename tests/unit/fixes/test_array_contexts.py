"""Contexts, copies and kvstores of MXNet: the whole text that a fix makes."""

from __future__ import annotations

from typing import Any

import pytest

from app.diagnosis.fix_choice import repair
from app.fixes.code.edits import applied
from app.judgments.finding import Finding
from tests.unit.fixes.fix_cases import fixed, hop, op, proposed

MX = "import mxnet as mx\nfrom mxnet import gluon\n"
Case = tuple[str, str | None]


def mx_fixed(code: str, text: str, **more: Any) -> str | None:
    found = fixed(code, MX + text, framework="mxnet", **more)
    if found is None:
        return None
    assert found.startswith(MX)
    return found.removeprefix(MX)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("z = x + mx.nd.ones(3)  #!\n", "z = x + mx.nd.ones(3, ctx=mx.gpu(1))\n"),
        ("mask = mx.nd.ones(\n    (3, 4),  #!\n)\n", "mask = mx.nd.ones(\n    (3, 4), ctx=mx.gpu(1),\n)\n"),
        (
            "ctx = mx.gpu(1)\nif a: mask = mx.nd.zeros(shape=(3))  #!\n",
            "ctx = mx.gpu(1)\nif a: mask = mx.nd.zeros(shape=(3), ctx=ctx)\n",
        ),
        ("def f():\n\treturn make(3)  #!\n", None),
        ("z = mx.nd.ones(3) + mx.nd.zeros(3)  #!\n", None),
        ("make = lambda: build(3)  #!\n", None),
    ],
)
def test_an_array_that_nobody_placed(before: str, after: str | None) -> None:
    made = hop("default-device", "cpu:0", "gpu:1", blames="producer")
    assert mx_fixed("default-device", before, hops=(made,)) == after


MIXED: dict[str, tuple[str, str, str | None]] = {
    "a sum": (
        "broadcast_add",
        "z = f(x) if q else a + b[0]  #!\n",
        "z = f(x) if q else a + b[0].as_in_context(a.context)\n",
    ),
    "an argument over lines": (
        "dot",
        "z = mx.nd.dot(\n    a,  #!\n    b * 2,\n)\n",
        "z = mx.nd.dot(\n    a,\n    (b * 2).as_in_context(a.context),\n)\n",
    ),
    "a method, returned on one line": (
        "dot",
        "def f(a, b): return a.dot(b)  #!\n",
        "def f(a, b): return a.dot(b.as_in_context(a.context))\n",
    ),
    "a method of a part": (
        "batch_dot",
        "z = xs[0].batch_dot(w) if q else mx.nd.linalg.f(a)  #!\n",
        "z = xs[0].batch_dot(w.as_in_context(xs[0].context)) if q else mx.nd.linalg.f(a)\n",
    ),
    "in place": ("_plus", "while q:\n    a += b  #!\n", "while q:\n    a += b.as_in_context(a.context)\n"),
    "a loss": (
        "elemwise_sub",
        "l = loss_fn(out, label)  #!\n",
        "l = loss_fn(out, label.as_in_context(out.context))\n",
    ),
    "in a comprehension": (
        "_mul",
        "zs = [a * b for a, b in pairs]  #!\n",
        "zs = [a * b.as_in_context(a.context) for a, b in pairs]\n",
    ),
    "two that it may be": ("_plus", "z = a + b + c  #!\n", None),
    "something made for it": ("_plus", "z = f(a) + b  #!\n", None),
    "a network": ("FullyConnected", "z = net(x)  #!\n", None),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed_contexts(name: str) -> None:
    op, before, after = MIXED[name]
    assert mx_fixed("mixed-context", before, ops=[op], ran_on=["gpu:0"], inputs_also_on=["gpu:1"]) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "ctx = mx.gpu(0)\nw = mx.nd.random.normal(\n    shape=(3, 4)\n)\nb = mx.nd.zeros(4)\n"
            "def net(x):\n    return mx.nd.dot(x, w) + b  #!\n",
            "ctx = mx.gpu(0)\nw = mx.nd.random.normal(\n    shape=(3, 4), ctx=ctx\n)\n"
            "b = mx.nd.zeros(4, ctx=ctx)\n"
            "def net(x):\n    return mx.nd.dot(x, w) + b\n",
        ),
        (
            "x = mx.nd.ones((4, 3))\ny = net(x)  #!\n",
            "x = mx.nd.ones((4, 3), ctx=mx.gpu(0))\ny = net(x)\n",
        ),
        (
            "state = cell.begin_state(batch_size=8)\nfor x in xs: out, state = cell(x, state)  #!\n",
            "state = cell.begin_state(batch_size=8, ctx=mx.gpu(0))\n"
            "for x in xs: out, state = cell(x, state)\n",
        ),
        (
            "def f(x, y):\n    return mx.nd.multiply(x, y)  #!\n",
            "def f(x, y):\n    return mx.nd.multiply(x, y.as_in_context(x.context))\n",
        ),
        ("y = net(load())  #!\n", None),
    ],
)
def test_inputs_that_were_made_on_the_host(before: str, after: str | None) -> None:
    lines = [
        number for number, one in enumerate(before.splitlines(), 3) if " = mx.nd." in one or "begin" in one
    ]
    told: dict[str, Any] = {"ops": ["dot", "broadcast_add", "broadcast_mul"], "ran_on": ["gpu:0"]}
    told |= {"inputs_also_on": ["cpu:0"], "made_on_default_at": [f"train.py:{line}" for line in lines]}
    assert mx_fixed("mixed-context", before, **told) == after


def test_mixed_contexts_of_numpy_like_arrays() -> None:
    text = "from mxnet import np, npx\nz = a + b  #!\n"
    assert fixed("mixed-context", text, framework="mxnet", ops=["add"]) == (
        "from mxnet import np, npx\nz = a + b.as_in_ctx(a.ctx)\n"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = x.copyto(mx.gpu(1))  #!\n", "y = x.as_in_context(mx.gpu(1))\n"),
        ("def f(x, ctx): return g(x.copyto(ctx))  #!\n", "def f(x, ctx): return g(x.as_in_context(ctx))\n"),
        (
            "ys = [\n    x.copyto(y.context)  #!\n    for x in xs\n]\n",
            "ys = [\n    x.as_in_context(y.context)\n    for x in xs\n]\n",
        ),
        (
            "place = mx.gpu(1)\ny = x[0].copyto(place)  #!\n",
            "place = mx.gpu(1)\ny = x[0].as_in_context(place)\n",
        ),
        ("x.copyto(y)  #!\n", None),
        ("z = x.copyto(y)  #!\n", None),
        ("y = x.as_in_context(mx.gpu(1))  #!\n", None),
    ],
)
def test_a_copy_to_where_it_is(before: str, after: str | None) -> None:
    assert mx_fixed("redundant-copy", before, same_device="gpu:1", call="copyto") == after


def test_a_copy_made_again_that_is_in_no_loop_is_no_copy_to_where_it_is() -> None:
    before = "def forward(x):\n    return x + table.copyto(x.context)  #!\n"
    assert mx_fixed("redundant-copy", before, copied_before="gpu:1", call="copyto") is None


def test_a_stop_on_the_host() -> None:
    text = 'import tensorflow as tf\nwith tf.device("CPU:0"):\n    y = tf.identity(x)  #!\n'
    found = fixed("bounce", text, lines=["train.py:3", "train.py:9"])
    assert found == 'import tensorflow as tf\nwith tf.device("CPU:0"):\n    y = x\n'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            't = gluon.Trainer(p, "sgd", kvstore="local")\nt.step(1)  #!\n',
            't = gluon.Trainer(p, "sgd", kvstore="device")\nt.step(1)\n',
        ),
        (
            "mod.fit(data, num_epoch=3, kvstore='local')  #!\n",
            "mod.fit(data, num_epoch=3, kvstore='device')\n",
        ),
        (
            "kv = mx.kv.create('dist_sync')\nt = gluon.Trainer(p, 'sgd', kvstore=kv)\nt.step(1)  #!\n",
            "kv = mx.kv.create('dist_device_sync')\nt = gluon.Trainer(p, 'sgd', kvstore=kv)\nt.step(1)\n",
        ),
        (
            "STORE = 'local'\nt = gluon.Trainer(p, 'sgd', kvstore=STORE)\nt.step(1)  #!\n",
            "STORE = 'device'\nt = gluon.Trainer(p, 'sgd', kvstore=STORE)\nt.step(1)\n",
        ),
        (
            "parser.add_argument('--kv-store', default='local')\n"
            "t = gluon.Trainer(p, 'sgd', kvstore=a.kv)\nt.step(1)  #!\n",
            "parser.add_argument('--kv-store', default='device')\n"
            "t = gluon.Trainer(p, 'sgd', kvstore=a.kv)\nt.step(1)\n",
        ),
        ("t = gluon.Trainer(p, 'sgd', kvstore=name)\nt.step(1)  #!\n", None),
        ("a.fit(x, kvstore='local')\nb.fit(x, kvstore='local')  #!\n", None),
        (
            "a = gluon.Trainer(p, 'sgd', kvstore='local')\nb = gluon.Trainer(q, 'sgd', kvstore='local')\n"
            "for t in (a, b):\n    t.step(1)  #!\n",
            None,
        ),
    ],
)
def test_a_kvstore_that_sums_on_the_devices(before: str, after: str | None) -> None:
    assert mx_fixed("reduce-on-host", before, algorithm="kvstore local, summed on cpu:0") == after


@pytest.mark.parametrize(
    ("devices", "name"),
    [(["gpu:0", "gpu:1"], "NcclAllReduce"), (["cpu:1", "cpu:2"], "HierarchicalCopyAllReduce")],
)
def test_a_strategy_that_sums_on_the_devices(devices: list[str], name: str) -> None:
    head = "import tensorflow as tf\ns = tf.distribute.MirroredStrategy(\n    cross_device_ops=tf.distribute."
    text = f"{head}ReductionToOneDevice(\n        reduce_to_device='cpu:0'))\ns.run(f)\n"
    finding = Finding("reduce-on-host", "warning", "a.py:5", "", {"devices": devices}, None, (), True)
    found = repair(finding, (), {"a.py": text}.get, "tensorflow", ("cpu:0", *devices))
    assert found is not None
    assert applied(text, found.edits) == f"{head}{name}())\ns.run(f)\n"


def test_a_strategy_that_keeps_all_variables_in_one_place() -> None:
    central = (
        "import tensorflow as tf\ns = tf.distribute.experimental.CentralStorageStrategy()\ns.run(f)  #!\n"
    )
    assert fixed("reduce-on-host", central, algorithm="sum on the host") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "t = gluon.Trainer(p, 'sgd', kvstore=None)\nfor x in data:\n    t.step(8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', kvstore=\"device\")\nfor x in data:\n    t.step(8)\n",
        ),
        (
            "t = gluon.Trainer(p, 'sgd', kvstore=None)\nfor x in data:\n    t.update(8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', kvstore=\"device\", update_on_kvstore=False)\n"
            "for x in data:\n    t.allreduce_grads()\n    t.update(8)\n",
        ),
        (
            "t = gluon.Trainer(p, 'sgd', update_on_kvstore=False)\nwhile more():\n\tt.update(\n\t\t8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', update_on_kvstore=False)\n"
            "while more():\n\tt.allreduce_grads()\n\tt.update(\n\t\t8)\n",
        ),
        (
            "self.t = gluon.Trainer(\n    p, 'sgd',\n)\nself.t.update(8)  #!\n",
            "self.t = gluon.Trainer(\n    p, 'sgd', update_on_kvstore=False,\n)\n"
            "self.t.allreduce_grads()\nself.t.update(8)\n",
        ),
        (
            "t = gluon.Trainer(p, 'sgd', kvstore='device', update_on_kvstore=False)\nt.update(8)  #!\n",
            "t = gluon.Trainer(p, 'sgd', kvstore='device', update_on_kvstore=False)\n"
            "t.allreduce_grads()\nt.update(8)\n",
        ),
        ("t = gluon.Trainer(p, 'sgd')\nt.step(8)  #!\n", None),
        ("t = gluon.Trainer(p, 'sgd', kvstore='local')\nt.step(8)  #!\n", None),
        ("for w in weights:\n    w -= rate * w.grad  #!\n", None),
        (
            "a = gluon.Trainer(p, 'sgd', kvstore=None)\n"
            "b = gluon.Trainer(q, 'sgd', kvstore=None)\na.step(8)  #!\n",
            None,
        ),
    ],
)
def test_replicas_that_exchange_their_gradients(before: str, after: str | None) -> None:
    assert mx_fixed("replica-drift", before, devices=("cpu:0", "gpu:0", "gpu:1")) == after


TRAINER = (
    "from mxnet import gluon\nclass Job:\n    def __init__(self, p):\n        self.t = gluon.Trainer(p, {})\n"
)


def of_trainer(code: str, text: str, arguments: str, **told: Any) -> list[tuple[str, tuple[str, ...]]] | None:
    """What the fix replaces where the Trainer is made in job.py."""
    other = TRAINER.replace("{}", arguments)
    _, found = proposed(code, text, framework="mxnet", files={"job.py": other}, **told)
    return None if found is None else [(edit.file, edit.new) for edit in found.edits]


def test_a_trainer_that_is_made_in_another_file() -> None:
    step, update = "job.t.step(8)  #!\n", "job.t.update(8)  #!\n"
    device = ("job.py", ('        self.t = gluon.Trainer(p, "sgd", kvstore="device")',))
    assert of_trainer("reduce-on-host", step, '"sgd", kvstore="local"') == [device]
    assert of_trainer("reduce-on-host", step, '"sgd", kvstore=store') is None
    told = {"trainer_made_at": "job.py:4"}
    assert of_trainer("replica-drift", step, '"sgd", kvstore=None', **told) == [device]
    assert of_trainer("replica-drift", step, '"sgd", kvstore="local"', **told) is None
    assert of_trainer("replica-drift", update, '"sgd", update_on_kvstore=False', **told) == [
        ("train.py", ("job.t.allreduce_grads()",))
    ]
    assert of_trainer("replica-drift", step, '"sgd", kvstore=None', trainer_made_at="job.py:99") is None
    apart = told | {"variables_made_at": "job.py:1"}
    assert of_trainer("replica-drift", step, '"sgd", kvstore=None', **apart) is None


def test_an_array_that_another_context_computes_with_stays_where_it_is_made() -> None:
    text = "mask = mx.nd.ones(3)\ny = x * mask  #!\nz = h + mask\n"
    told: dict[str, Any] = {"ops": ["elemwise_mul"], "ran_on": ["gpu:1"], "inputs_also_on": ["cpu:0"]}
    told |= {"made_on_default_at": ["train.py:3"]}
    made = "mask = mx.nd.ones(3, ctx=mx.gpu(1))"
    assert (mx_fixed("mixed-context", text, **told) or "").startswith(made)
    there = (op(5, "_copyto", "cpu:0"), op(5, "elemwise_add", "gpu:1"))
    assert (mx_fixed("mixed-context", text, ran=there, **told) or "").startswith(made)
    alone = text.replace("h + mask", "mx.nd.norm(mask)")
    assert (mx_fixed("mixed-context", alone, ran=(op(5, "norm", "cpu:0"),), **told) or "").startswith(made)
    host = (op(5, "elemwise_add", "cpu:0"),)
    assert not (mx_fixed("mixed-context", text, ran=host, **told) or "").startswith(made)
    made_by_default = hop("default-device", "cpu:0", "gpu:1", blames="producer")
    for ran, proposes in (((), True), (host, False)):
        text = "mask = mx.nd.ones(3)  #!\ny = x * mask.as_in_context(mx.gpu(1))\nz = h + mask\n"
        assert bool(mx_fixed("default-device", text, hops=(made_by_default,), ran=ran)) == proposes


def test_of_two_contexts_the_one_that_is_no_host_is_kept() -> None:
    text = "import mxnet as mx\ny = mask * hidden  #!\n"
    told: dict[str, Any] = {"ops": ["broadcast_mul"], "ran_on": ["cpu:0"], "inputs_also_on": ["gpu:0"]}
    brought = mx_fixed("mixed-context", text, **told)
    assert brought == "import mxnet as mx\ny = mask.as_in_context(hidden.context) * hidden\n"
    assert mx_fixed("mixed-context", "import mxnet as mx\nmask *= hidden  #!\n", **told) is None


FAR = """\
class Weighted:
    def __init__(self):
        self.weights = mx.nd.ones((4,))

    def loss(self, x):
        return (x * self.weights).sum()  #!
"""


def test_a_context_is_given_at_the_line_that_made_the_array_without_one() -> None:
    """Bug: the array was brought over in each step, though the evidence named the line that made it."""
    told: dict[str, Any] = {
        "ops": ["broadcast_mul"],
        "ran_on": ["gpu:1"],
        "inputs_also_on": ["cpu:0"],
        "made_on_default_at": ["train.py:5"],
    }
    done = FAR.replace("(4,)", "(4,), ctx=mx.gpu(1)").replace("  #!", "")
    assert mx_fixed("mixed-context", FAR, **told) == done
    other = FAR + "    def norm(self):\n        return self.weights.norm()\n"
    host = (op(10, "norm", "cpu:0"),)
    assert "ctx=" not in (mx_fixed("mixed-context", other, ran=host, **told) or "")
    two = told | {"inputs_also_on": ["cpu:0", "gpu:0"]}
    assert "ctx=" not in (mx_fixed("mixed-context", FAR, **two) or "")


def test_a_context_is_given_in_the_file_that_made_the_array() -> None:
    made = "import mxnet as mx\nMASK = mx.nd.ones(3)\n"
    told: dict[str, Any] = {"ops": ["broadcast_mul"], "ran_on": ["gpu:1"], "inputs_also_on": ["cpu:0"]}
    known: dict[str, Any] = {"framework": "mxnet", "files": {"parts.py": made}}
    use = MX + "y = x * parts.MASK  #!\n"
    _, found = proposed("mixed-context", use, made_on_default_at=["parts.py:2"], **told, **known)
    assert found is not None
    assert applied(made, found.edits) == made.replace("(3)", "(3, ctx=mx.gpu(1))")
