"""A state that goes from step to step through Python stays a tensor, where nothing else wants an array."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

TF = "import numpy as np\nimport tensorflow as tf\n"
STEPS = """\
@tf.function
def step(x, h):
    with tf.GradientTape() as tape:
        h = cell(x, h)
    return h

state = np.zeros((4, 8), "float32")
for x in data:
    h = step(x, tf.constant(state))
    state = h.numpy()  #!
"""
HOPS = (hop("host-sync", producer_op="step"), hop("host-upload", "cpu:0", "gpu:0", kind="upload"))
WAY = {
    "lines": ["train.py:12", "train.py:6"],
    "tensor_again_at": ["train.py:11"],
    "stations": ["gpu:0", "cpu:0", "gpu:0"],
}


def straight(text: str, producer: str = "step") -> str | None:
    pulls = (hop("host-sync", producer_op=producer), HOPS[1])
    found = fixed("bounce", TF + text, hops=pulls, **WAY)
    return found and found.removeprefix(TF)


def test_a_state_is_handed_on_as_the_tensor_that_it_is() -> None:
    """Bug: only "Keep the tensor on the device" was said."""
    assert straight(STEPS) == STEPS.replace("h.numpy()  #!", "h")
    handed = STEPS.replace("tf.constant(state)", "state")  # a traced function makes a tensor of it
    assert straight(handed) == handed.replace("h.numpy()  #!", "h")
    same = STEPS.replace("    h = step", "    state = step").replace(
        "state = h.numpy()", "state = state.numpy()"
    )
    assert straight(same) == same.replace("    state = state.numpy()  #!\n", "")


def test_where_a_tape_may_be_open_it_has_no_gradient_as_before() -> None:
    loop = STEPS[STEPS.index("state =") :]
    inside = STEPS.replace(loop, "def train():\n" + "".join(f"    {line}\n" for line in loop.splitlines()))
    assert "        state = tf.stop_gradient(h)\n" in (straight(inside) or "")
    taped = STEPS.replace(
        loop, "with tf.GradientTape() as t:\n" + "".join(f"    {one}\n" for one in loop.splitlines())
    )
    assert "        state = tf.stop_gradient(h)\n" in (straight(taped) or "")


@pytest.mark.parametrize(
    "more",
    [
        "    state[x > 0] = 0\n",
        "    seen.append(state)\n",
        "    state *= 0.5\n",
        "    print(state.mean())\n",
        "    other(state)\n",
        "    tf.constant(state, tf.float64)\n",
    ],
)
def test_not_where_something_else_reads_it(more: str) -> None:
    assert straight(STEPS + more) is None


def test_a_variables_value_is_not_its_tensor() -> None:
    assert straight(STEPS, "ReadVariableOp") is None
    assert (
        straight(STEPS.replace("h = step(x, tf.constant(state))", "h = tf.Variable(step(x, state))")) is None
    )
