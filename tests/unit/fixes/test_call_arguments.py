"""What is made without a scope for a traced function is made where that uses it; its call stays outside."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop, op

HEAD = """\
import tensorflow as tf

@tf.function
def step(x, z):
    with tf.device("/CPU:1"):
        fake = gen(z)
    with tf.device("/CPU:2"):
        return loss_of(x, fake)

"""
DEVICES = ("cpu:0", "cpu:1", "cpu:2")
MADE = hop("default-device", "cpu:0", "cpu:1", blames="producer", kind="arg", graphs=(3,))
SCOPE = 'with tf.device("/CPU:1"):\n'


def told(text: str, line: int) -> str | None:
    inside = [op(6, "MatMul", "cpu:1", "cpu:1"), op(8, "MatMul", "cpu:2", "cpu:2")]
    ran = [type(one)(one.name, one.type, one.requested, one.assigned, one.site, "step") for one in inside]
    ran += [op(10, "AddV2", "cpu:0"), op(line, "StatefulPartitionedCall", "cpu:0")]
    made = fixed("default-device", HEAD + text, hops=(MADE,), devices=DEVICES, ran=tuple(ran))
    return None if made is None else made.removeprefix(HEAD)


def test_what_a_call_is_handed_is_made_above_it_in_the_scope() -> None:
    """Bug: the fix put the whole call into the scope, and with it the loss and the optimizer."""
    assert told("loss = step(x, tf.random.normal([8]))  #!\n", 10) == (
        f"{SCOPE}    z_value = tf.random.normal([8])\nloss = step(x, z_value)\n"
    )
    assert told("seen.append(step(x, z=tf.random.normal([8]) * 2))  #!\n", 10) == (
        f"{SCOPE}    z_value = tf.random.normal([8]) * 2\nseen.append(step(x, z=z_value))\n"
    )
    assert told("a = 1; loss = step(x, tf.ones([8]))  #!\n", 10) == (
        f"a = 1\n{SCOPE}    z_value = tf.ones([8])\nloss = step(x, z_value)\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "loss = tf.square(step(x, tf.random.normal([8])))  #!\n",
        "loss = step(tf.ones([8]), tf.random.normal([8]))  #!\n",
        "loss = a() + step(x, tf.random.normal([8]))  #!\n",
        "losses = [step(x, tf.random.normal([8])) for x in xs]  #!\n",
        "loss = step(x, tf.random.normal([8])) if x else 0  #!\n",
    ],
)
def test_where_more_is_computed_nothing_is_taken_out(text: str) -> None:
    assert "_value" not in (told(text, 10) or "")


def test_what_is_named_first_goes_to_the_scope_alone() -> None:
    """Bug: no change was proposed where a function works on other devices too."""
    drawn = "z = tf.random.normal([8])  #!\n"
    assert told(f"{drawn}loss = step(x, z)\n", 11) == (
        f"{SCOPE}    z = tf.random.normal([8])\nloss = step(x, z)\n"
    )
    # Read at two places it may be wanted on the default device as well.
    twice = HEAD.replace("loss_of(x, fake)", "loss_of(z, fake)")
    ran = (op(10, "AddV2", "cpu:0"), op(11, "Call", "cpu:0"))
    elsewhere = type(ran[0])("MatMul", "MatMul", "cpu:2", "cpu:2", "train.py:8", "step")
    text = f"{twice}{drawn}loss = step(x, z)\n"
    assert fixed("default-device", text, hops=(MADE,), devices=DEVICES, ran=(*ran, elsewhere)) is None
