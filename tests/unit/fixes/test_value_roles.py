"""Metrics that a loop updates: the whole text that the fix makes, or what is said where there is none."""

from __future__ import annotations

from typing import Any

from app.diagnosis.causes.host_sync.line_advice import EITHER
from tests.unit.fixes.fix_cases import hop, said

TF = "import tensorflow as tf\n"
MX = "import mxnet as mx\n"


def metric_said(text: str, framework: str, kind: str, **fields: Any) -> str:
    pull = hop("host-sync", each=1.0, **fields)
    return said("host-sync", text, framework=framework, hops=(pull,), taken_by=kind) or ""


def test_of_a_named_value_the_metric_is_told_that_takes_it() -> None:
    made = "acc = tf.keras.metrics.Accuracy()\n"
    text = "for x, y in data:\n    p = f(x).numpy()  #!\n    acc.update_state(y, p)\n"
    told = metric_said(TF + made + text, "tensorflow", "numpy")
    assert told.startswith("acc.update_state at train.py:5 is of a metric of Keras")


def test_what_numpy_makes_for_a_metric_is_not_the_tensor_itself() -> None:
    text = "m = tf.keras.metrics.Mean()\nfor x in data:\n    m.update_state(np.mean(f(x).numpy()))  #!\n"
    told = metric_said(f"import numpy as np\n{TF}{text}", "tensorflow", "numpy")
    assert told.startswith("What is made of it goes back by m.update_state at train.py:5")


def test_a_metric_of_mxnet_takes_what_it_is_handed_in_each_update() -> None:
    """Bug: "take the value every so many steps" of a value that the program takes nowhere itself."""
    text = "for x, y in data:\n    metric.update([y], [f(x)])  #!\n"
    by = {"via": "mxnet/metric.py:update"}
    told = metric_said(MX + text, "mxnet", "asnumpy", **by)
    assert told.startswith("metric.update takes values to numpy in each call") and "several batches" in told
    assert metric_said(MX + text, "mxnet", "asnumpy") == EITHER
    made = "metric = mx.metric.create('acc')\n"
    named = "for x, y in data:\n    p = f(x).asnumpy()  #!\n    metric.update(y, p)\n"
    assert metric_said(MX + made + named, "mxnet", "asnumpy").startswith(
        "metric.update at train.py:5 takes values"
    )
