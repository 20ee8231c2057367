"""The evidence of a hop names the lines that opened the device scopes of its two ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.reports.run_report import run_report
from tests.integration.recording import by, record, written

TENSORFLOW = """\
import contextlib
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 3)


def on(device):
    return tf.device(device)


@contextlib.contextmanager
def second():
    with tf.device("/CPU:2"):
        yield


@tf.function
def forward(x):
    with tf.device("/CPU:1"):
        h = tf.matmul(x, x)
    with tf.device(None), tf.device("/CPU:2"):
        return tf.matmul(h, h)


with on("/CPU:1"):
    x = tf.ones((64, 64))
    y = tf.nn.relu(x)
with second():
    z = tf.nn.tanh(y)
for _ in range(3):
    forward(x)


@tf.function
def picked(h, rows):
    return tf.gather(h, rows) + 1.0, rows + 1


with on("/CPU:1"):
    rows = tf.cast(y[0, :8], tf.int32)
with on("/CPU:2"):
    picked(y, rows)
_, after = picked(y, rows)
with on("/CPU:2"):
    more = after * 2
strategy = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])
total = strategy.reduce("SUM", strategy.run(lambda: tf.ones([64]) * 2.0), axis=None)
"""

MXNET = """\
import mxnet as mx

with mx.cpu(1):
    x = mx.nd.ones((64, 64))
    with mx.cpu(2):
        y = mx.nd.zeros((64, 64))
x.copyto(y)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


def test_tensorflow_names_the_scopes_of_eager_ops_and_of_graphs(tf_python: Path, tmp_path: Path) -> None:
    run = record(tf_python, written(tmp_path, TENSORFLOW))
    found = {row["site"]: row for row in by(run.report["findings"], code="explicit")}
    eager, graph = found["script.py:30"], found["script.py:23"]
    assert (eager["evidence"]["producer_scope"], eager["evidence"]["scope"]) == (
        "script.py:9",
        "script.py:14",
    )
    assert (graph["evidence"]["producer_scope"], graph["evidence"]["scope"]) == (
        "script.py:20",
        "script.py:22",
    )
    assert graph["because"] == (
        "Requested: cpu:1 (the scope opened at script.py:20) for the producer, cpu:2 (the scope opened at"
        " script.py:22) for the consumer."
    )
    # The function asks for no device: the scope of its call decides; int32 is handed over on the host.
    assert found["script.py:37"]["evidence"]["scope"] == "script.py:9"
    assert found["script.py:37"]["evidence"]["placed_by_call"] == ["consumer"]
    kept = {row["site"]: row["evidence"] for row in by(run.report["findings"], code="host-memory")}
    assert kept["script.py:37"]["lay_on"] == "cpu:1"
    assert kept["script.py:46"]["kept_in_host_memory"] == "result"
    # The strategy's scopes are no lines of the script.
    assert all(
        row["evidence"].get("scope") != "script.py:48" != row["evidence"].get("producer_scope")
        for row in run.report["findings"]
    )


def test_mxnet_names_the_context_that_an_array_was_made_in(mx_python: Path, tmp_path: Path) -> None:
    run = record(mx_python, written(tmp_path, MXNET), framework="mxnet")
    found = {row["site"]: row["evidence"] for row in by(run.report["findings"], code="explicit")}
    assert found["script.py:7"]["producer_scope"] == "script.py:3"


DECORATOR = """\
import functools

import tensorflow as tf




def on_second(function):
    @functools.wraps(function)
    def wrapper(*args):
        with tf.device("/CPU:2"):
            return function(*args) + 1.0

    return wrapper
"""
DECORATED = """\
import tensorflow as tf

cpus = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpus[0], [tf.config.LogicalDeviceConfiguration()] * 3)
from placing import on_second


@on_second
def squared(x):
    return tf.matmul(x, x)


@tf.function
def step(x):
    with tf.device("/CPU:1"):
        h = tf.matmul(x, x)
    return squared(h)


x = tf.ones((64, 64))
for _ in range(3):
    step(x)
"""


def test_a_decorators_wrapper_has_its_own_lines(tf_python: Path, tmp_path: Path) -> None:
    """GIVEN a wrapper made with functools.wraps, of another module, that AutoGraph rewrites THEN its lines
    are its own, not those of the function that it wraps."""
    written(tmp_path, DECORATOR, "placing.py")
    run = record(tf_python, written(tmp_path, DECORATED))
    found = {row["site"]: row["evidence"] for row in by(run.report["findings"], code="explicit")}
    assert found["script.py:10"]["scope"] == "placing.py:11"
    ops = run_report(run.run.path, ops=True)["ops"]
    assert "placing.py:12" in {op["site"] for op in ops}
