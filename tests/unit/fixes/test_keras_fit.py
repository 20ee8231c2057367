"""A model's training goes into the scope of the device that its weights live on."""

from __future__ import annotations

import pytest

from app.facts.placement import Op
from tests.unit.fixes.fix_cases import fixed, hop, op, said

HEAD = (
    "import tensorflow as tf\nfrom tensorflow import keras\n\n\n"
    "class Twice(keras.layers.Layer):\n    def call(self, x):\n        return self.inner(x) + x{mark}\n\n\n"
    "with tf.device('/GPU:1'):\n    model = build()\n"
)
LAYER, MADE = HEAD.format(mark="  #!"), HEAD.format(mark="")
FIT = "model.compile('adam')\nmodel.fit(data)\n"
INSIDE = "with tf.device('/GPU:1'):\n    model.compile('adam')\n    model.fit(data)\n"
WEIGHTS = op(11, "VarHandleOp", "gpu:1")


def trained(text: str, *ran: Op) -> str | None:
    """The fix for ops that ran on the default device, away from the weights."""
    hops = (hop("default-device", src="gpu:1", dst="gpu:0"),)
    return fixed("default-device", text, hops=hops, ran=(WEIGHTS, *ran))


def test_the_loop_is_called_in_the_models_scope() -> None:
    assert trained(MADE + FIT.replace("(data)", "(data)  #!")) == MADE + INSIDE


def test_so_it_is_for_a_layers_own_line() -> None:
    assert trained(LAYER + FIT) == MADE + INSIDE


@pytest.mark.parametrize(
    ("text", "ran"),
    [
        (LAYER + FIT + "other.fit(data)\n", ()),
        (LAYER + "def train(model):\n    pass\n", ()),
        (LAYER + "with tf.device('/GPU:0'):\n    model.fit(data)\n", ()),
        (LAYER + FIT, (Op("a", "MatMul", "gpu:0", "gpu:0", "train.py:3", "train"),)),
    ],
)
def test_a_layers_line_is_left_where_it_is(text: str, ran: tuple[Op, ...]) -> None:
    assert trained(text, *ran) is None


def test_under_a_strategy_no_loop_goes_into_a_scope() -> None:
    """Bug: OneDeviceStrategy's own fit was to be put into a scope of the device that it trains on."""
    own = "with tf.distribute.OneDeviceStrategy('/GPU:1').scope():"
    text = MADE.replace("with tf.device('/GPU:1'):", own) + FIT.replace("(data)", "(data)  #!")
    assert trained(text) is None
    assert trained(text.replace(own, "with make_strategy().scope():")) is None
    hops = (hop("default-device", src="gpu:1", dst="gpu:0"),)
    assert said("default-device", text, hops=hops) is None


def test_no_fix_takes_a_gpus_work_to_the_host() -> None:
    hops = (hop("default-device", src="cpu:0", dst="gpu:0"),)
    made = MADE.replace("GPU:1", "CPU:0") + FIT.replace("(data)", "(data)  #!")
    ran = (op(11, "VarHandleOp", "cpu:0"), op(13, "MatMul", "gpu:0"))
    assert fixed("default-device", made, hops=hops, ran=ran) is None
    # Nor into a scope that is there already.
    beside = "import tensorflow as tf\nwith tf.device('/CPU:0'):\n    x = f()\ny = g(x)  #!\n"
    assert fixed("default-device", beside, hops=hops) is None
    # Where no GPU takes part, the host is a device like others.
    alike = (hop("default-device", src="cpu:0", dst="cpu:1"),)
    assert fixed("default-device", beside, hops=alike, devices=("cpu:0", "cpu:1")) is not None
