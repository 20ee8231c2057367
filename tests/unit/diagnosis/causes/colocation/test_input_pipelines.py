"""Input pipelines prepare elements ahead."""

from __future__ import annotations

import pytest

from tests.unit.fixes.fix_cases import fixed, hop

TF = "import tensorflow as tf\n"


def test_devices_that_cannot_be_delivered_to_have_elements_prepared_ahead() -> None:
    text = "d = tf.data.Dataset.range(9)\nfor x in d:  #!\n    step(x)\n"
    used = hop("colocation", "cpu:0", "cpu:1", blames="producer")
    found = fixed(
        "colocation", TF + text, hops=(used,), producer_colocated_with="the input pipeline's iterator"
    )
    assert found == TF + "d = tf.data.Dataset.range(9).prefetch(tf.data.AUTOTUNE)\nfor x in d:\n    step(x)\n"


def test_an_assignment_kept_beside_its_variable_gets_no_fix_of_the_pipeline() -> None:
    """Bug: `v.assign_sub(g)` in a loop over a dataset was told to have elements prepared ahead."""
    text = "d = tf.data.Dataset.range(9)\nfor x in d:\n    v.assign_sub(f(x))  #!\n"
    sent = hop("colocation", "cpu:0", "cpu:1", op="AssignSubVariableOp")
    assert fixed("colocation", TF + text, hops=(sent,), colocated_with="v", lives_on="cpu:1") is None


@pytest.mark.parametrize(
    ("loop", "after"),
    [
        (
            "d = tf.data.Dataset.range(9).batch(8)\nfor x in d:\n    step(x)  #!\n",
            'd = tf.data.Dataset.range(9).batch(8).apply(tf.data.experimental.prefetch_to_device("/GPU:1"))\n'
            "for x in d:\n    step(x)\n",
        ),
        (
            "for i, x in enumerate(tf.data.Dataset.range(9)):  #!\n    step(x)\n",
            "for i, x in enumerate(tf.data.Dataset.range(9)"
            '.apply(tf.data.experimental.prefetch_to_device("/GPU:1"))):\n    step(x)\n',
        ),
        ("d = tf.data.Dataset.range(9).prefetch(1)\nfor x in d:\n    step(x)  #!\n", None),
    ],
)
def test_a_pipeline_delivers_to_the_gpu_that_uses_its_elements(loop: str, after: str | None) -> None:
    used = hop("colocation", "cpu:0", "gpu:1", blames="producer")
    found = fixed("colocation", TF + loop, hops=(used,), producer_colocated_with="the iterator")
    assert found == (None if after is None else TF + after)
