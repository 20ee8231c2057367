"""Ops that nobody placed go into the scope of their inputs, or of what uses them."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

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
