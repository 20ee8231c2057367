"""Ops, gradients, variables and data of TensorFlow on the wrong device: the whole text that a fix makes."""

from __future__ import annotations

from typing import Any

import pytest

from app.facts.placement import Op
from tests.unit.fixes.fix_cases import fixed, hop, op, proposed, said

TF = "import tensorflow as tf\n"
Case = tuple[str, str | None]

DEFAULT: dict[str, Case] = {
    "plain": (
        "def f(x):\n    y = tf.add(x, 1)  #!\n    return y\n",
        'def f(x):\n    with tf.device("/GPU:1"):\n        y = tf.add(x, 1)\n    return y\n',
    ),
    "returned, several lines, tabs": (
        "def f(x):\n\treturn tf.add(\n\t\tx,  #!\n\t\t1,\n\t)\n",
        'def f(x):\n\twith tf.device("/GPU:1"):\n\t\treturn tf.add(\n\t\t\tx,\n\t\t\t1,\n\t\t)\n',
    ),
    "as the file writes it": (
        "with tf.device('gpu:0'):\n  a = b()\nc = d\ny = a + 1  #!\n",
        "with tf.device('gpu:0'):\n  a = b()\nc = d\nwith tf.device('gpu:1'):\n  y = a + 1\n",
    ),
    "the scope right above": (
        'with tf.device("/device:GPU:1"):\n    a = b()\n\ny = a + 1  #!\nz = 1\n',
        'with tf.device("/device:GPU:1"):\n    a = b()\n\n    y = a + 1\nz = 1\n',
    ),
    "a name for the device": (
        'SECOND = "/GPU:1"\ndef f(x):\n    with tf.device(SECOND):\n        y = g(x)\n'
        "    z = y\n    return z * 2  #!\n",
        'SECOND = "/GPU:1"\ndef f(x):\n    with tf.device(SECOND):\n        y = g(x)\n    z = y\n'
        "    with tf.device(SECOND):\n        return z * 2\n",
    ),
    "behind a condition": (
        "if a: y = x + 1  #!\nelse: y = x\n",
        None,
    ),
    "between others": (
        "a = 1; y = f(x); b = 2  #!\n",
        None,
    ),
    "a text over lines, without a last end": (
        'log("""a\n  b""", x + 1)  #!',
        'with tf.device("/GPU:1"):\n    log("""a\n  b""", x + 1)',
    ),
    "in a comprehension": (
        "ys = [x * 2 for x in xs]  #!\n",
        'with tf.device("/GPU:1"):\n    ys = [x * 2 for x in xs]\n',
    ),
    "in a lambda": ("double = lambda x: x * 2  #!\n", None),
    "made later": ("ys = (x * 2 for x in xs)  #!\n", None),
    "awaited": ("async def f(x):\n    y = await g(x + 1)  #!\n", None),
    "given out": ("def f(x):\n    yield x + 1  #!\n", None),
    "the header of a loop": ("for y in x + 1:  #!\n    f(y)\n", None),
    "under a strategy": ("with strategy.scope():\n    y = x + 1  #!\n", None),
    "a decorator": ("@register(x + 1)  #!\ndef f(): pass\n", None),
    "no Python": ("y = x +  #!\n", None),
}


@pytest.mark.parametrize("name", DEFAULT)
def test_an_op_without_a_scope(name: str) -> None:
    before, after = DEFAULT[name]
    found = fixed("default-device", TF + before, hops=(hop("default-device", "gpu:1"),), requested="")
    assert found == (None if after is None else TF + after)


def test_what_a_producer_without_a_scope_makes_is_made_where_it_is_used() -> None:
    text = f"{TF}mask = tf.ones([8])  #!\n"
    made = hop("default-device", "cpu:0", "gpu:1", blames="producer")
    assert fixed("default-device", text, hops=(made,)) == (
        'import tensorflow as tf\nwith tf.device("/GPU:1"):\n    mask = tf.ones([8])\n'
    )
    elsewhere = hop("default-device", "cpu:0", "gpu:0", blames="producer")
    assert fixed("default-device", text, hops=(made, elsewhere)) is None
    other_process = hop("default-device", "cpu:0", "worker:1/gpu:0", blames="producer")
    assert fixed("default-device", text, hops=(other_process,)) is None


def test_without_tensorflow_in_the_file_there_is_no_scope() -> None:
    assert fixed("default-device", "y = x + 1  #!\n", hops=(hop("default-device", "gpu:1"),)) is None


GRADIENTS: dict[str, Case] = {
    "the tape's own scope": (
        """\
def step(device):
    with tf.device(device), tf.GradientTape() as tape:
        loss = f()
    gradients = tape.gradient(loss, variables)  #!
""",
        """\
def step(device):
    with tf.device(device), tf.GradientTape() as tape:
        loss = f()
    with tf.device(device):
        gradients = tape.gradient(loss, variables)
""",
    ),
    "a scope around the tape": (
        """\
@tf.function
def step(self):
    with tf.device(self.device):
        with tf.GradientTape() as tape:
            loss = f()
    return tape.gradient(loss, self.weights)  #!
""",
        """\
@tf.function
def step(self):
    with tf.device(self.device):
        with tf.GradientTape() as tape:
            loss = f()
        return tape.gradient(loss, self.weights)
""",
    ),
    "a constant": (
        """\
with tf.GradientTape() as tape:
    with tf.device("/gpu:1"):
        loss = f()
opt.apply_gradients(  #!
    zip(tape.gradient(loss, v), v)
)
""",
        """\
with tf.GradientTape() as tape:
    with tf.device("/gpu:1"):
        loss = f()
with tf.device("/gpu:1"):
    opt.apply_gradients(
        zip(tape.gradient(loss, v), v)
    )
""",
    ),
    "on one line": (
        "def g(tape): return tape.gradient(loss, v)  #!\n",
        None,
    ),
    "there already": ('with tf.device("/GPU:1"):\n    g = tape.gradient(loss, v)  #!\n', None),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    before, after = GRADIENTS[name]
    forward = [number for number, one in enumerate(before.splitlines(), 2) if "loss = f()" in one]
    ran = tuple(op(line, "MatMul", "gpu:1", "gpu:1") for line in forward)
    found = fixed("gradient-outside-scope", TF + before, ran=ran, forward_requested=["gpu:1", None])
    assert found == (None if after is None else TF + after)


def test_keras_loop_is_not_put_into_a_scope_for_its_gradients() -> None:
    """It would take callbacks, metrics and logs along; a fix that brings other findings is none."""
    asked = {"forward_requested": ["gpu:1", None]}
    assert fixed("gradient-outside-scope", TF + "g = tape.gradient(l, w)  #!\n", **asked) is not None
    assert fixed("gradient-outside-scope", TF + "model.fit(x, y)  #!\n", **asked) is None


def test_gradients_of_ops_on_several_devices_have_no_one_scope() -> None:
    text = f"{TF}g = tape.gradient(loss, v)  #!\n"
    assert fixed("gradient-outside-scope", text, forward_requested=["gpu:0", "gpu:1"]) is None
    assert fixed("gradient-outside-scope", text, producer_forward_requested="gpu:1") is not None
    # Bug: gradients that are computed where they belong were moved along, away from their forward ops.
    also: dict[str, Any] = {"forward_requested": "gpu:1", "gradients_of": ["gpu:0", "gpu:1"]}
    assert fixed("gradient-outside-scope", text, **also) is None
    assert fixed("gradient-outside-scope", text, forward_requested="worker:0/gpu:1") is None


def test_a_scope_of_the_host_is_no_fix_for_what_runs_there_anyway() -> None:
    text = 'with tf.device("/GPU:0"):\n    y, index = tf.unique(x)  #!\n    z = f(y)\n'
    unique = {"kernel": "UniqueV2 has kernels for CPU", "dtype": "float32"}
    assert fixed("no-kernel", TF + text, hops=(hop("no-kernel"),), **unique) is None
    assert fixed("no-kernel", TF + "def f(x): return tf.unique(x)  #!\n", **unique) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('with tf.device("/GPU:3"):\n    y = f(x)  #!\n', 'with tf.device("/GPU:1"):\n    y = f(x)\n'),
        ("with tf.device('/device:gpu:3'): y = f(x)  #!\n", "with tf.device('/device:gpu:1'): y = f(x)\n"),
        (
            'LAST = "gpu:3"\ndef f(x):\n    with tf.device(LAST):\n        return g(x)  #!\n',
            'LAST = "gpu:1"\ndef f(x):\n    with tf.device(LAST):\n        return g(x)\n',
        ),
        (
            'y = f(x)  #!\n@on(tf.device("/GPU:3"))\ndef g(): pass\n',
            'y = f(x)\n@on(tf.device("/GPU:1"))\ndef g(): pass\n',
        ),
        ('with tf.device(f"/GPU:{n}"):\n    y = f(x)  #!\n', None),
        ('with tf.device("/GPU:3"): a()\nwith tf.device("/GPU:3"): b()\nc()  #!\n', None),
    ],
)
def test_a_device_that_exists(before: str, after: str | None) -> None:
    found = fixed("missing-device", TF + before, missing="gpu:3", ran_on="cpu:0")
    assert found == (None if after is None else TF + after)


def test_without_gpus_the_host_is_named_where_the_op_ran() -> None:
    text = f"{TF}with tf.device('/GPU:0'):\n    y = f(x)  #!\n"
    found = fixed("missing-device", text, missing="gpu:0", ran_on="cpu:0", devices=("cpu:0", "cpu:1"))
    assert found == "import tensorflow as tf\nwith tf.device('/CPU:0'):\n    y = f(x)\n"


def test_a_missing_device_that_a_scope_takes_as_a_parameter_is_named_where_it_is_handed_over() -> None:
    """GIVEN a helper with a device of its own THEN the one text that names the missing one is told."""
    helper = "def branch(x, device):\n    with tf.device(device):\n        return tf.matmul(x, x)  #!\n"
    runs = 'RUNS = [partial(branch, device="/CPU:1"), partial(branch, device="/device:GPU:0")]\n'
    known: dict[str, Any] = {"missing": "gpu:0", "ran_on": "cpu:0", "devices": ("cpu:0", "cpu:1")}
    after = (helper + runs).replace("  #!", "").replace("/device:GPU:0", "/CPU:0")
    assert fixed("missing-device", TF + helper + runs, **known) == TF + after
    other = 'AGAIN = partial(branch, device="/GPU:0")\n'
    assert fixed("missing-device", TF + helper + runs + other, **known) is None
    told = said("missing-device", TF + helper, files={"runs.py": runs + other}, **known) or ""
    assert told.endswith(" gpu:0 is named at runs.py:1 and runs.py:2.")


def test_a_missing_context_of_mxnet() -> None:
    text = "import mxnet as mx\nx = mx.nd.ones(3, ctx=mx.gpu(4))  #!\n"
    found = fixed("missing-device", text, framework="mxnet", missing="gpu:4", ran_on="cpu:0")
    assert found == "import mxnet as mx\nx = mx.nd.ones(3, ctx=mx.gpu(1))\n"


VARIABLES: dict[str, Case] = {
    "made without a scope": (
        """\
table = tf.Variable(init)
def f(x):
    return tf.nn.embedding_lookup(table, x)  #!
""",
        """\
with tf.device("/GPU:1"):
    table = tf.Variable(init)
def f(x):
    return tf.nn.embedding_lookup(table, x)
""",
    ),
    "alone in another scope": (
        """\
with tf.device("/cpu:0"):
    table = tf.Variable(
        init,
    )
y = tf.gather(table, x)  #!
""",
        """\
with tf.device("/gpu:1"):
    table = tf.Variable(
        init,
    )
y = tf.gather(table, x)
""",
    ),
    "with others in another scope, of two that are read": (
        """\
with tf.device("/CPU:0"):
    a = tf.Variable(1.0)
    n = 3
with tf.device("/GPU:1"):
    b = tf.Variable(1.0)
def f():
    return a * b  #!
""",
        """\
with tf.device("/CPU:0"):
    with tf.device("/GPU:1"):
        a = tf.Variable(1.0)
    n = 3
with tf.device("/GPU:1"):
    b = tf.Variable(1.0)
def f():
    return a * b
""",
    ),
    "behind a semicolon": (
        "a = tf.Variable(1.0); n = 3\nf(a)  #!\n",
        None,
    ),
    "a strategy's": ("with strategy.scope():\n    a = tf.Variable(1.0)\nf(a)  #!\n", None),
    "a layer's": ("def call(self, x):\n    return x * self.kernel  #!\n", None),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_is_created_where_it_is_read(name: str) -> None:
    before, after = VARIABLES[name]
    lines = [number for number, one in enumerate(before.splitlines(), 2) if "Variable(" in one]
    read = hop("variable-home", "cpu:0", "gpu:1")
    told = {"lives_on": "cpu:0", "created_at": [f"train.py:{line}" for line in lines[:1]]}
    assert fixed("variable-home", TF + before, hops=(read,), **told) == (
        None if after is None else TF + after
    )


def test_a_table_that_rows_are_looked_up_in_is_left_where_it_is() -> None:
    """It may be there for its size; a variable that is read whole goes to its reader."""
    text = TF + "a = tf.Variable(1.0)\nf(a)  #!\n"
    whole = hop("variable-home", "cpu:0", "gpu:1")
    rows = hop("variable-home", "cpu:0", "gpu:1", producer_op="ResourceGather")
    told = {"lives_on": "cpu:0", "created_at": "train.py:2"}
    assert fixed("variable-home", text, hops=(whole,), **told) is not None
    assert fixed("variable-home", text, hops=(rows,), **told) is None


QUEUE = """\
import tensorflow as tf
class MoCo:
    def __init__(self, card):
        self.queue = tf.Variable(tf.zeros(9))
        with tf.device(card):
            self.opt = optimizer()

    def step(self, q):
        with tf.device("/GPU:1"):
            return q @ self.queue  #!
"""


def test_a_variable_goes_into_the_scope_that_the_code_names_beside_it() -> None:
    """Bug: a constant was written above ``with tf.device(card):``, which calls with another card belie."""
    read = hop("variable-home", "cpu:0", "gpu:1")
    made, inside = op(4, "VarHandleOp", "cpu:0"), op(6, "Mul", "gpu:1", "gpu:1")
    line = "        self.queue = tf.Variable(tf.zeros(9))\n"

    def scoped(expression: str, text: str = QUEUE, *ran: Op) -> None:
        found = fixed("variable-home", text, hops=(read,), lives_on="cpu:0", ran=(made, *ran))
        new = f"        with tf.device({expression}):\n    {line}"
        assert found == text.replace("  #!", "").replace(line, new)

    scoped("card", QUEUE, inside)
    scoped('"/GPU:1"')  # nothing ran there, so nobody knows what it is
    scoped('"/GPU:1"', QUEUE, op(6, "Mul", "gpu:0", "gpu:0"))
    later = QUEUE.replace("        with tf.device(card)", "        card = f()\n        with tf.device(card)")
    later = later.replace("self, card)", "self)")
    scoped('"/GPU:1"', later, op(7, "Mul", "gpu:1", "gpu:1"))
    # An attribute that has its value above.
    own = QUEUE.replace("(self, card):\n", "(self, card):\n        self.card = card\n")
    own = own.replace("device(card)", "device(self.card)")
    found = fixed(
        "variable-home",
        own,
        hops=(read,),
        lives_on="cpu:0",
        ran=(op(5, "VarHandleOp", "cpu:0"), op(7, "Mul", "gpu:1", "gpu:1")),
    )
    assert found is not None and f"with tf.device(self.card):\n    {line}" in found


def test_devices_that_cannot_be_delivered_to_have_elements_prepared_ahead() -> None:
    text = "d = tf.data.Dataset.range(9)\nfor x in d:  #!\n    step(x)\n"
    used = hop("colocation", "cpu:0", "cpu:1", blames="producer")
    found = fixed(
        "colocation", TF + text, hops=(used,), producer_colocated_with="the input pipeline's iterator"
    )
    assert found == TF + "d = tf.data.Dataset.range(9).prefetch(tf.data.AUTOTUNE)\nfor x in d:\n    step(x)\n"


def test_an_assignment_kept_beside_its_variable_gets_no_fix_of_the_pipeline() -> None:
    """Bug: `v.assign_sub(g)` in a loop over a dataset was told to have elements prepared ahead."""
    text = "d = tf.data.Dataset.range(9)\nfor x in d:\n    v.assign_sub(f(x))  #!\n"
    sent = hop("colocation", "cpu:0", "cpu:1", op="AssignSubVariableOp")
    assert fixed("colocation", TF + text, hops=(sent,), colocated_with="v", lives_on="cpu:1") is None


@pytest.mark.parametrize(
    ("loop", "after"),
    [
        (
            "d = tf.data.Dataset.range(9).batch(8)\nfor x in d:\n    step(x)  #!\n",
            'd = tf.data.Dataset.range(9).batch(8).apply(tf.data.experimental.prefetch_to_device("/GPU:1"))\n'
            "for x in d:\n    step(x)\n",
        ),
        (
            "for i, x in enumerate(tf.data.Dataset.range(9)):  #!\n    step(x)\n",
            "for i, x in enumerate(tf.data.Dataset.range(9)"
            '.apply(tf.data.experimental.prefetch_to_device("/GPU:1"))):\n    step(x)\n',
        ),
        ("d = tf.data.Dataset.range(9).prefetch(1)\nfor x in d:\n    step(x)  #!\n", None),
    ],
)
def test_a_pipeline_delivers_to_the_gpu_that_uses_its_elements(loop: str, after: str | None) -> None:
    used = hop("colocation", "cpu:0", "gpu:1", blames="producer")
    found = fixed("colocation", TF + loop, hops=(used,), producer_colocated_with="the iterator")
    assert found == (None if after is None else TF + after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "@tf.function(jit_compile=True)\ndef f(x):\n    return x + 1  #!\n",
            "@tf.function(jit_compile=False)\ndef f(x):\n    return x + 1\n",
        ),
        (
            "@tf.function(  #!\n    jit_compile=True,\n)\ndef f(x):\n    return x\n"
            "@tf.function(jit_compile=True)\ndef g(x): return x\n",
            "@tf.function(\n    jit_compile=False,\n)\ndef f(x):\n    return x\n"
            "@tf.function(jit_compile=True)\ndef g(x): return x\n",
        ),
        (
            "g = tf.function(f, jit_compile=args.xla)\ng(1)  #!\n",
            "g = tf.function(f, jit_compile=False)\ng(1)\n",
        ),
        ("a = tf.function(f, jit_compile=True)\nb = tf.function(g, jit_compile=True)\na(1)  #!\n", None),
        ("model.fit(x)  #!\n", None),
    ],
)
def test_without_xla(before: str, after: str | None) -> None:
    assert fixed("xla-opaque", TF + before) == (None if after is None else TF + after)


@pytest.mark.parametrize(
    ("ignored", "words"), [((), "change it back after"), (("cpu:2",), "compile one function for each device")]
)
def test_xla_comes_back_where_no_scope_was_ignored(ignored: tuple[str, ...], words: str) -> None:
    text = f"{TF}@tf.function(jit_compile=True)\ndef f(x):\n    return x\nf(1)  #!\n"
    found = proposed("xla-opaque", text, not_followed=list(ignored))[1]
    assert found is not None
    assert words in found.words


@pytest.mark.parametrize("code", ["unbalanced", "host-memory", "explicit", "collective", "unknown"])
def test_codes_without_a_fix(code: str) -> None:
    assert fixed(code, f"{TF}for x in data:\n    y = x + 1  #!\n", hops=(hop(code),)) is None
