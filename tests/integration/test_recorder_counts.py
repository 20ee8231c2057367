"""Every hop with its exact count, bytes, devices and line: through loops, branches, retraces, nesting."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, record, written


@pytest.fixture(scope="module")
def counts(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(tf_python, SCRIPTS / "counts.py", exact=True)


def between(counts: Recorded, *sites: str) -> list[tuple[object, ...]]:
    hops = [hop for hop in counts.report["hops"] if hop["site"] in sites]
    return sorted((h["site"], h["src"], h["dst"], h["bytes"], h["count"]) for h in hops)


def test_the_script_ran(counts: Recorded) -> None:
    assert counts.run.state == "finished", counts.log[-2000:]


def test_nested_functions_and_retraces_have_their_own_bytes_and_counts(counts: Recorded) -> None:
    """`outer` ran twice on 8x4 and once, retraced, on 16x4; `inner` runs inside it twice."""
    assert between(counts, *(f"counts.py:{n}" for n in (12, 18, 20, 22))) == [
        ("counts.py:12", "cpu:0", "cpu:2", 128, 2),
        ("counts.py:12", "cpu:0", "cpu:2", 256, 1),
        ("counts.py:12", "cpu:1", "cpu:2", 128, 2),
        ("counts.py:12", "cpu:1", "cpu:2", 256, 1),
        ("counts.py:18", "cpu:0", "cpu:1", 128, 2),
        ("counts.py:18", "cpu:0", "cpu:1", 256, 1),
        ("counts.py:20", "cpu:2", "cpu:0", 128, 2),
        ("counts.py:20", "cpu:2", "cpu:0", 256, 1),
        ("counts.py:22", "cpu:0", "cpu:3", 128, 2),
        ("counts.py:22", "cpu:0", "cpu:3", 256, 1),
    ]


def test_nested_loops_with_a_branch_inside_are_counted_by_execution(counts: Recorded) -> None:
    """Two calls of 2 x 3 iterations, the branch taken in two of three."""
    assert between(counts, "counts.py:30", "counts.py:32", "counts.py:35") == [
        ("counts.py:30", "cpu:0", "cpu:1", 64, 12),
        ("counts.py:32", "cpu:1", "cpu:2", 64, 12),
        ("counts.py:35", "cpu:2", "cpu:3", 64, 8),
    ]


def test_a_loop_is_counted_also_when_it_does_not_run(counts: Recorded) -> None:
    """Trips of 3, 0 and 5."""
    assert between(counts, "counts.py:43", "counts.py:45") == [
        ("counts.py:43", "cpu:0", "cpu:1", 64, 8),
        ("counts.py:45", "cpu:1", "cpu:2", 64, 8),
    ]


def test_a_branch_is_counted_when_it_was_taken(counts: Recorded) -> None:
    """Taken in three calls of four."""
    expected = ("counts.py:53", "cpu:0", "cpu:3", 64, 3)
    assert between(counts, "counts.py:53") == [expected]


def test_exact_counts_are_said_to_be_exact(counts: Recorded) -> None:
    """A TensorFlow build that has no switch for the log says that they are sampled."""
    sampled = [hop for hop in counts.report["hops"] if hop["basis"] == "sampled"]
    refused = any(row["what"].startswith("exact executions") for row in counts.report["unseen"])
    assert refused or not sampled
    assert all(hop["count"] is not None for hop in counts.report["hops"])


def test_what_the_runtime_logs_for_the_recorder_is_not_in_the_programs_output(counts: Recorded) -> None:
    assert "sendrecv_ops.cc" not in counts.log
    assert "Process node" not in counts.log
    assert "rofiler session" not in counts.log


TURNS = """\
import tensorflow as tf

w, v = tf.Variable(tf.ones((8, 8))), tf.Variable(tf.ones((8, 8)))
first, second = tf.keras.optimizers.SGD(0.1), tf.keras.optimizers.SGD(0.1)
third = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.SGD(0.1))


def one():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    first.apply_gradients(zip(tape.gradient(loss, [w]), [w]))


@tf.function
def two():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    second.apply_gradients(zip(tape.gradient(loss, [v]), [v]))


@tf.function
def scaled():
    with tf.GradientTape() as tape:
        loss = third.scale_loss(tf.reduce_sum(v * v))
    third.apply_gradients(zip(tape.gradient(loss, [v]), [v]))


for _ in range(6):
    one()
    two()
for _ in range(4):
    scaled()
"""


def test_two_optimizers_that_take_turns_make_one_step_together(
    tf_python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    run = record(tf_python, written(tmp_path, TURNS))
    assert run.report["steps"] == 6 + 4, "one that scales losses applies another one in a branch"
