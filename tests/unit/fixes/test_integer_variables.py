"""int32 variables that a GPU reads: made int64 where all that uses them takes either, never scoped."""

from __future__ import annotations

import pytest

from tests.unit.fixes import fix_cases
from tests.unit.fixes.fix_cases import hop

HEAD = "import tensorflow as tf\n"
MADE = 'ids = tf.Variable(tf.random.uniform((4,), maxval=9, dtype=tf.int32), dtype=tf.int32, name="ids")\n'


def fixed(text: str, dtype: str = "int32", dst: str = "gpu:0") -> str | None:
    read = hop("variable-home", "cpu:0", dst, dtype=dtype, producer_op="ReadVariableOp")
    return fix_cases.fixed("variable-home", HEAD + text, hops=(read,))


def test_it_becomes_int64_where_all_that_uses_it_takes_either() -> None:
    use = "near = tf.gather(values, ids)  #!\n"
    made = fixed(MADE + use)
    assert made == HEAD + MADE.replace("int32", "int64") + use.replace("  #!", "")


@pytest.mark.parametrize(
    "text",
    [
        MADE + "near = tf.gather(values, ids + 1)  #!\n",
        MADE + "near = tf.gather(values, ids)  #!\nmore = tf.cast(ids, tf.float32)\n",
        "ids = tf.Variable([1, 2, 3])\nnear = tf.gather(values, ids)  #!\n",
        "ids = tf.Variable(tf.cast(x, tf.int32))\nnear = tf.gather(values, ids)  #!\n",
    ],
)
def test_else_nothing_is_proposed_least_of_all_a_scope(text: str) -> None:
    assert fixed(text) is None


def test_others_are_created_where_they_are_read() -> None:
    text = "ids = tf.Variable(x)\nnear = tf.gather(values, ids)  #!\n"
    made = fixed(text, dtype="float32")
    assert made is not None
    assert 'with tf.device("/GPU:0"):' in made
