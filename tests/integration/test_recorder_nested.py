"""Gradients of a function that another one calls: its ops have no tape of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import by, record, written

SCRIPT = """\
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 2)
with tf.device("CPU:1"):
    w = tf.Variable(tf.random.normal([256, 256]))
    x = tf.random.normal([64, 256])


@tf.function
def forward(x):
    with tf.device("CPU:1"):
        return tf.reduce_sum(tf.tanh(tf.matmul(x, w)))


@tf.function
def outside(x):
    with tf.GradientTape() as tape:
        loss = forward(x)
    return tape.gradient(loss, w)


@tf.function
def inside(x):
    with tf.device("CPU:1"):
        with tf.GradientTape() as tape:
            loss = forward(x)
        return tape.gradient(loss, w)


for _ in range(6):
    outside(x)
    inside(x)
"""


def test_the_gradient_of_an_inner_function_has_its_forward_ops(
    tf_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIVEN a scope in an inner function WHEN the gradient is asked for outside of any THEN that is told."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    run = record(tf_python, written(tmp_path, SCRIPT))
    warned = by(run.report["findings"], severity="warning")
    (finding,) = [row for row in warned if row["code"] != "bounce"]
    assert (finding["code"], finding["site"]) == ("gradient-outside-scope", "script.py:20")
    assert finding["evidence"]["forward_requested"] == "cpu:1"
