"""Gradients go into the scope of their forward ops."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.fixes.fix_cases import fixed, op

TF = "import tensorflow as tf\n"
Case = tuple[str, str | None]

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
