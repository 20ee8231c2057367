"""A variable is created on the device that reads it."""

from __future__ import annotations

from typing import Any

import pytest

from app.facts.placement import Op
from app.fixes.code.edits import applied
from tests.unit.fixes.fix_cases import fixed, hop, op, proposed

TF = "import tensorflow as tf\n"
Case = tuple[str, str | None]

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


SLOTS = """\
slots = [tf.Variable(tf.zeros(3)) for w in weights]
def update():
    with tf.device("/GPU:1"):
        optimizer.apply([slot.read_value() for slot in slots], weights)  #!
    for slot in slots:
        slot.assign(tf.zeros_like(slot))
"""


def created(text: str, *ran: Op, others: tuple[Any, ...] = (), **files: str) -> str | None:
    read = hop("variable-home", "cpu:0", "gpu:1")
    texts = {f"{name}.py": content for name, content in files.items()}
    return fixed("variable-home", TF + text, hops=(read,), ran=ran, others=others, files=texts)


def test_a_variable_that_is_used_at_its_home_or_on_a_third_device_stays() -> None:
    ran = op(2, "VarHandleOp", "cpu:0"), op(7, "ReadVariableOp", "cpu:0")
    assert created(SLOTS, *ran) is not None
    assert created(SLOTS, *ran, op(7, "MatMul", "cpu:0", "cpu:0")) is None
    third = hop("variable-home", "cpu:0", "gpu:0")
    assert created(SLOTS, *ran, others=(third,)) is None


def test_a_variable_of_another_file() -> None:
    text = f'{TF}with tf.device("/GPU:1"):\n    y = f(model.table)  #!\n'
    other = f"{TF}class Model:\n    def __init__(self):\n        self.table = tf.Variable(tf.ones(3))\n"
    made = op(4, "VarHandleOp", "cpu:0", file="model.py")
    read = hop("variable-home", "cpu:0", "gpu:1")
    before, found = proposed("variable-home", text, hops=(read,), ran=(made,), files={"model.py": other})
    assert found is not None and {edit.file for edit in found.edits} == {"model.py"}
    assert applied(other, found.edits) == other.replace(
        "        self.table =", '        with tf.device("/GPU:1"):\n            self.table ='
    )
    assert before.endswith("f(model.table)\n")
