"""Gradients are computed beside their forward ops, whichever devices; loops ask seldom if they go on."""

from __future__ import annotations

from typing import Any

import pytest

from app.facts.placement import Op
from tests.unit.fixes.fix_cases import fixed, hop, op, said


@pytest.mark.parametrize(
    "test",
    ["float(loss) > 0.1", "n < 9 and tf.reduce_max(loss) > tol", "len(todo) > 0 or loss > eps", "left > 0"],
)
def test_no_loop_goes_on_longer_by_a_change_of_the_code(test: str) -> None:
    """Bug: a loop was made to ask every tenth round, which a solver that divides by the rest cannot stand."""
    text = f"import tensorflow as tf\nn, loss = 0, step()\nwhile {test}:  #!\n    loss = step()\n    n += 1\n"
    assert fixed("host-sync", text, hops=(hop("host-sync"),), taken_by="bool") is None
    assert "further rounds do no harm" in (said("host-sync", text, taken_by="bool") or "")


GRADIENTS = (
    "import tensorflow as tf\n\n\ndef step(x):\n    with tf.GradientTape() as tape:\n"
    "        with tf.device('/GPU:1'):\n            loss = model(x)\n"
    "    grads = tape.gradient(loss, weights)  #!\n    optimizer.apply_gradients(zip(grads, weights))\n"
)
UPDATED = (op(8, "MatMul", "gpu:0"), op(9, "Mul", "gpu:0"), op(9, "AssignSubVariableOp", "gpu:1"))


def test_an_optimizer_that_reckons_on_the_default_device_goes_along() -> None:
    """Bug: only the gradients were moved, so that all of them came back for the optimizer's rule."""
    hops = (hop("gradient-outside-scope", "gpu:1", "gpu:0"),)
    sent = hop("colocation", "gpu:0", "gpu:1", site="train.py:9", bytes=4096)
    made = fixed(
        "gradient-outside-scope", GRADIENTS, hops=hops, others=(sent,), ran=UPDATED, forward_requested="gpu:1"
    )
    head, *lines = GRADIENTS.replace("  #!", "").partition("    grads")
    both = "".join(f"    {line}\n" for line in "".join(lines).splitlines())
    assert made == f"{head}    with tf.device('/GPU:1'):\n{both}"


RETURNED = "import tensorflow as tf\n\nfor x in data:\n    loss = step(x)  #!\n"


def test_a_call_stays_where_its_function_computes_without_a_scope() -> None:
    """Bug: for a scalar that the function returns, all that it does without a scope was moved along."""
    hops = (
        hop("default-device", "gpu:1", "gpu:0", op="Identity", site="train.py:4", producer_site="train.py:9"),
        hop("default-device", "gpu:0", "gpu:1", op="_Retval", site="train.py:4", producer_site="train.py:4"),
    )
    told: dict[str, Any] = {"stations": ["gpu:1", "gpu:0", "gpu:1"], "result_of_a_call": True}
    told |= {"lines": ["train.py:4", "train.py:4"], "hops": hops}
    assert fixed("bounce", RETURNED, **told) is not None
    inside = Op("MatMul", "MatMul", "", "gpu:0", "train.py:9", "step")
    assert fixed("bounce", RETURNED, ran=(inside,), **told) is None
