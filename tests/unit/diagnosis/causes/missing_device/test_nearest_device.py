"""A device that does not exist is replaced with the nearest one that does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, said

TF = "import tensorflow as tf\n"


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
