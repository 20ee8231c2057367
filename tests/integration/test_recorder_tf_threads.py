"""Functions that several threads call for the first time at once: the runtime exports their graphs as one."""

from __future__ import annotations

from pathlib import Path

from tests.integration.recording import SCRIPTS, record

WAY = ("src", "dst", "bytes", "count")


def test_each_threads_calls_are_counted_and_nothing_goes_unseen(tf_python: Path, hopscope_home: Path) -> None:
    recorded = record(tf_python, SCRIPTS / "first_calls.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    assert recorded.report["unseen"] == []
    inside = {"src": "cpu:1", "dst": "cpu:2"}
    assert recorded.hops(*WAY, **inside, site="first_calls.py:17") == [("cpu:1", "cpu:2", 2048, 80)]
    assert recorded.hops(*WAY, **inside, site="first_calls.py:25") == [("cpu:1", "cpu:2", 256, 80)]


def test_steps_of_two_models_that_begin_at_once_are_told_apart(tf_python: Path, hopscope_home: Path) -> None:
    """Bug: their ops have the same names; one's graph was taken for the other's, or both were lost."""
    recorded = record(tf_python, SCRIPTS / "models_in_threads.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    assert recorded.report["unseen"] == []
    read = recorded.hops(*WAY, site="models_in_threads.py:25")
    assert sorted(read) == [("cpu:0", "cpu:1", 4096, 40), ("cpu:0", "cpu:2", 4096, 40)]
    ops = {row["device"]: row["ops"] for row in recorded.report["placement"]}
    assert min(ops["cpu:1"], ops["cpu:2"]) > 15
    (found,) = [one for one in recorded.report["findings"] if one["code"] == "variable-home"]
    assert found["fix"].startswith("Several devices read it")


def test_a_function_is_seen_after_and_beside_eager_ops_of_other_threads(
    tf_python: Path, hopscope_home: Path
) -> None:
    """Bug: where eager ops of two threads had come in pieces, a function was taken apart and lost."""
    recorded = record(tf_python, SCRIPTS / "ops_in_threads.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    assert recorded.report["unseen"] == []
    read = recorded.hops(*WAY, site="ops_in_threads.py:24")
    assert read == [("cpu:0", "cpu:1", 2048, 10)] * 2 + [("cpu:0", "cpu:1", 2048, 20)] * 2


def test_a_scope_of_the_main_thread_is_said_not_to_hold_in_another(
    tf_python: Path, hopscope_home: Path
) -> None:
    """Also where the scope that the thread was started in is closed by then."""
    recorded = record(tf_python, SCRIPTS / "scopes_of_threads.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    told = {row["site"]: row for row in recorded.report["findings"] if row["code"] == "default-device"}
    for line, opened in ((14, 23), (20, 29)):
        found = told[f"scopes_of_threads.py:{line}"]
        assert found["evidence"]["scope_apart"] == f"scopes_of_threads.py:{opened}"
