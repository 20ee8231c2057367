"""A device that does not exist: the lines that name it."""

from __future__ import annotations

from typing import Any

from tests.unit.fixes.fix_cases import fixed, said

TF = "import tensorflow as tf\n"


def test_the_lines_that_name_a_missing_device_are_told() -> None:
    """GIVEN a helper with a device of its own THEN the lines that hand the missing one over are told."""
    helper = "def branch(x, device):\n    with tf.device(device):\n        return tf.matmul(x, x)  #!\n"
    runs = 'RUNS = [partial(branch, device="/CPU:1"), partial(branch, device="/device:GPU:0")]\n'
    other = 'AGAIN = partial(branch, device="/GPU:0")\n'
    known: dict[str, Any] = {"missing": "gpu:0", "ran_on": "cpu:0", "devices": ("cpu:0", "cpu:1")}
    told = said("missing-device", TF + helper, files={"runs.py": runs + other}, **known) or ""
    assert told.endswith(" gpu:0 is named at runs.py:1 and runs.py:2.")
    assert fixed("missing-device", TF + helper, **known) is None


def test_of_a_scope_its_own_line_is_told() -> None:
    text = f'{TF}"""/GPU:3"""\nwith tf.device("/GPU:3"):\n    y = f(x)  #!\n'
    told = said("missing-device", text, missing="gpu:3", ran_on="cpu:0") or ""
    assert told.endswith(" gpu:3 is named at train.py:3.")
