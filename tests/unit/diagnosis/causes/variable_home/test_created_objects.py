"""An object whose variables are read far away is made in the reader's scope, as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from app.fixes.code.edits import applied
from tests.unit.fixes.fix_cases import fixed, hop, op, proposed, said

NORM = """\
import tensorflow as tf

class Normalizer:
    def __init__(self):
        self.mean = tf.Variable(tf.zeros([8]))
        self.var = tf.Variable(tf.ones([8]))

norm = Normalizer()
for x in data:
    with tf.device("/CPU:1"):
        y = (x - norm.mean) / norm.var  #!
"""
KNOWN: dict[str, Any] = {
    "devices": ("cpu:0", "cpu:1", "cpu:2"),
    "object_made_at": ["train.py:8"],
    "variable": ["Variable of train.py:5", "Variable of train.py:6"],
    "ran": (op(5, "VarHandleOp", "cpu:0"), op(6, "VarHandleOp", "cpu:0")),
}
READ = hop("variable-home", "cpu:0", "cpu:1", evidence={"object_made_at": "train.py:8"})
ELSEWHERE = hop("variable-home", "cpu:0", "cpu:2", evidence={"object_made_at": "train.py:8"})
ONE_MADE = 'with tf.device("/CPU:1"):\n    norm = Normalizer()\n'


def test_the_call_that_makes_the_object_goes_into_the_readers_scope() -> None:
    assert fixed("variable-home", NORM, hops=(READ,), **KNOWN) == (
        NORM.replace("norm = Normalizer()\n", ONE_MADE).replace("  #!", "")
    )


def test_it_is_made_in_the_file_that_makes_it() -> None:
    text = f"{NORM.partition('norm =')[0]}NORM = Normalizer()\n"
    use = "import tensorflow as tf\nfrom layers import NORM\ny = x - NORM.mean  #!\n"
    known = KNOWN | {"object_made_at": ["layers.py:8"]}
    _, found = proposed("variable-home", use, hops=(READ,), files={"layers.py": text}, **known)
    assert found is not None and {edit.file for edit in found.edits} == {"layers.py"}
    assert applied(text, found.edits) == text.replace(
        "NORM = Normalizer()\n", 'with tf.device("/CPU:1"):\n    NORM = Normalizer()\n'
    )


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (NORM, {"others": (ELSEWHERE,)}),
        (NORM, {"created_in": ["cpu:0"]}),
        (NORM, {"ran": (*KNOWN["ran"], op(10, "ReadVariableOp", "cpu:0"), op(10, "Mul", "cpu:0"))}),
        (NORM.replace("norm = N", 'with tf.device("/CPU:0"): norm = N'), {}),
        (NORM + "s = tf.distribute.MirroredStrategy()\n", {}),
        (NORM.replace("norm = Normalizer()", "norm = (lambda: Normalizer())()"), {}),
    ],
    ids=["read elsewhere too", "a scope inside", "used at home", "a scope around", "a strategy", "a lambda"],
)
def test_an_object_that_others_place_or_use_stays_where_it_is(text: str, more: dict[str, Any]) -> None:
    made = fixed("variable-home", text, hops=(READ,), **KNOWN | more) or ""
    assert ONE_MADE not in made


NETWORK = """\
import tensorflow as tf

class Layer:
    def __init__(self, n):
        self.w = tf.Variable(tf.zeros([8, n]))

class Network:
    def __init__(self):
        self.first = Layer(8)
        self.size = 8
        self.second = Layer(1)

network, other = Network(), Network()
for x in data:
    with tf.device("/CPU:1"):
        y = x @ network.first.w @ network.second.w  #!
    optimizer.apply_gradients(zip(grads, variables))
"""
LAYERS: dict[str, Any] = {
    "devices": ("cpu:0", "cpu:1", "cpu:2"),
    "object_made_at": ["train.py:9", "train.py:11"],
    "created_at": "train.py:5",
    "variable": "w",
    "ran": (
        op(5, "VarHandleOp", "cpu:0"),
        op(5, "VarHandleOp", "cpu:2", "cpu:2"),
        op(17, "ReadVariableOp", "cpu:0"),
        op(17, "Mul", "cpu:0"),
    ),
}
LAYER = hop("variable-home", "cpu:0", "cpu:1", evidence={"object_made_at": "train.py:9"})


def test_each_call_that_makes_one_of_the_objects_gets_the_scope() -> None:
    """Bug: told was the line of a class whose other objects were made where they belong.

    What an optimizer's line reads is its own, or what it updates where that is: it keeps no object there.
    """
    scope = '        with tf.device("/CPU:1"):\n            '
    assert fixed("variable-home", NETWORK, hops=(LAYER,), **LAYERS) == (
        NETWORK.replace("        self.first", f"{scope}self.first")
        .replace("        self.second", f"{scope}self.second")
        .replace("  #!", "")
    )
    # Where a call is in a scope there is no change, and the words name the calls, and no optimizer.
    placed = NETWORK.replace("self.second =", "with tf.device(D): self.second =")
    assert fixed("variable-home", placed, hops=(LAYER,), **LAYERS) is None
    assert said("variable-home", placed, hops=(LAYER,), **LAYERS) == (
        "Make the objects, and so their variables, in the device scope of cpu:1, at train.py:9 and"
        " train.py:11: train.py:5 may make other objects' variables too."
    )
    # Another line that computes with variables of the home may do so with these.
    there = (op(13, "ReadVariableOp", "cpu:0"), op(13, "Mul", "cpu:0"))
    used = LAYERS | {"ran": (*LAYERS["ran"], *there)}
    assert fixed("variable-home", NETWORK, hops=(LAYER,), **used) is None
    assert "read there too, at train.py:13: if" in (
        said("variable-home", NETWORK, hops=(LAYER,), **used) or ""
    )


TABLE = "import tensorflow as tf\ntable = tf.Variable(rows)\nused = tf.nn.embedding_lookup(table, ids)  #!\n"


def test_of_a_table_it_is_said_which_line_creates_it() -> None:
    """It may be where it is for its size, so that no change is proposed."""
    read = hop("variable-home", "gpu:0", "gpu:1", producer_op="ResourceGather", site="train.py:3")
    told: dict[str, Any] = {"hops": (read,), "created_at": "train.py:2", "rows": True, "dst": "gpu:1"}
    assert fixed("variable-home", TABLE, **told) is None
    assert said("variable-home", TABLE, **told) == (
        "Create the table on gpu:1, where its rows are used, if it fits into that memory: train.py:2 creates"
        " it."
    )
