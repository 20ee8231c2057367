"""An object whose variables are read far away is made in the reader's scope, as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from app.analysis.repairs.edits import applied
from tests.unit.repair_cases import fixed, hop, op, proposed

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
