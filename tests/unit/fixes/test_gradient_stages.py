"""Gradients are computed beside their forward ops, whichever devices; loops ask seldom if they go on."""

from __future__ import annotations

from typing import Any

import pytest

from app.facts.placement import Op
from tests.unit.fixes.fix_cases import fixed, hop, op, said

HEAD = "import tensorflow as tf\n\nweights = [a, b]\n\n\n@tf.function\ndef step(x):\n"
TAPE = (
    "    with tf.GradientTape() as tape:\n"
    "        with tf.device('/GPU:0'):\n"
    "            h = x @ a\n"
    "        with tf.device('/GPU:1'):\n"
    "            loss = tf.reduce_mean(h @ b)\n"
)
ASKED = "    grads = tape.gradient(loss, weights)  #!\n"
COLOCATED = "    grads = tf.compat.v1.gradients(loss, weights, colocate_gradients_with_ops=True)\n"
APPLIED = "    optimizer.apply_gradients(zip(grads, weights))\n"


def of_stages(text: str, graph: int = 4) -> str | None:
    """The fix for gradients of forward ops on two devices."""
    hops = (hop("gradient-outside-scope", graphs=(graph,)),)
    return fixed("gradient-outside-scope", text, hops=hops, forward_requested=["gpu:0", "gpu:1"])


def test_gradients_stand_beside_their_forward_ops() -> None:
    assert of_stages(HEAD + TAPE + ASKED + APPLIED) == HEAD + TAPE + COLOCATED + APPLIED


def test_assignments_of_what_is_made_of_gradients_go_to_their_variables() -> None:
    loop = "    for v, g in zip(weights, grads):\n"
    assert of_stages(HEAD + TAPE + ASKED + loop + "        v.assign_sub(0.1 * g)\n") == (
        HEAD
        + TAPE
        + COLOCATED
        + loop
        + "        with tf.device(v.device):\n            v.assign_sub(0.1 * g)\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        HEAD + TAPE + ASKED + "    norm = tf.linalg.global_norm(grads)\n" + APPLIED,
        HEAD + "    x = layer(x)\n" + TAPE + ASKED + APPLIED,
        HEAD + TAPE.replace("GradientTape()", "GradientTape(persistent=True)") + ASKED + APPLIED,
        HEAD + TAPE + ASKED.replace("weights)", "{'a': a})") + APPLIED,
        HEAD.replace("[a, b]", "find()") + TAPE + ASKED + APPLIED,
        "import keras\n" + HEAD + TAPE + ASKED + APPLIED,
    ],
)
def test_what_another_function_may_take_otherwise_is_left(text: str) -> None:
    assert of_stages(text) is None


def test_eager_gradients_have_no_such_function() -> None:
    assert of_stages(HEAD + TAPE + ASKED + APPLIED, graph=0) is None


@pytest.mark.parametrize(
    "test",
    ["float(loss) > 0.1", "n < 9 and tf.reduce_max(loss) > tol", "len(todo) > 0 or loss > eps", "left > 0"],
)
def test_no_loop_goes_on_longer_by_a_change_of_the_code(test: str) -> None:
    """Bug: a loop was made to ask every tenth round, which a solver that divides by the rest cannot stand."""
    text = f"import tensorflow as tf\nn, loss = 0, step()\nwhile {test}:  #!\n    loss = step()\n    n += 1\n"
    assert fixed("host-sync", text, hops=(hop("host-sync"),), taken_by="bool") is None
    assert "further rounds do no harm" in (said("host-sync", text, taken_by="bool") or "")


TELLER = 'def report(n, loss):\n    """Tells."""\n    print(n, float(loss))  #!\n'
CALLED = "for n in range(900):\n    loss = step()\n    report(n, loss)\n"
SELDOM = "for n in range(900):\n    loss = step()\n    if n % 100 == 0:\n        report(n, loss)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TELLER + CALLED, TELLER + SELDOM),
        (
            "report = lambda n, loss: print(n, loss.numpy())  #!\n" + CALLED,
            "report = lambda n, loss: print(n, loss.numpy())\n" + SELDOM,
        ),
        # Others may call it, it does more, or what it is given is made for it.
        (TELLER + CALLED + "report(0, loss)\n", None),
        (TELLER + CALLED + "fit(report)\n", None),
        (TELLER + "    save(loss)\n" + CALLED, None),
        (TELLER + CALLED.replace("report(n, loss)", "report(n, step())"), None),
        (TELLER + CALLED.replace("    report", "    if n > 3:\n        report"), None),
        ("@jit\n" + TELLER + CALLED, None),
        ("report = lambda n, loss: save(loss.numpy())  #!\n" + CALLED, None),
    ],
)
def test_a_function_that_only_tells_is_called_seldom(before: str, after: str | None) -> None:
    made = fixed("host-sync", before, hops=(hop("host-sync"),), taken_by="float")
    assert made == (None if after is None else after.replace("  #!", ""))


LAYER = (
    "import tensorflow as tf\n\n\nclass Scale(Layer):\n    def build(self, shape):\n"
    "        self.kernel = self.add_weight(shape, name='kernel')\n"
    "        self.bias = self.add_weight(shape, name='bias')\n\n"
    "    def call(self, x):\n        return x @ self.kernel  #!\n"
)
MADE = (op(6, "VarHandleOp", "cpu:0"), op(7, "VarHandleOp", "cpu:0"))


def test_a_layers_weight_is_made_where_it_is_read() -> None:
    hops = (hop("variable-home", "cpu:0", "gpu:1", producer_op="ReadVariableOp"),)
    told = {"variable": "scale/kernel", "lives_on": "cpu:0"}
    weight = "        self.kernel = self.add_weight(shape, name='kernel')\n"
    scoped = f"        with tf.device('/GPU:1'):\n    {weight}"
    assert fixed("variable-home", LAYER, hops=hops, ran=MADE, **told) == LAYER.replace(
        weight, scoped
    ).replace("  #!", "")
    # Another layer of the class computes where its weights are.
    there = (*MADE, op(10, "ReadVariableOp", "cpu:0"), op(10, "MatMul", "cpu:0"))
    assert fixed("variable-home", LAYER, hops=hops, ran=there, **told) is None


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
