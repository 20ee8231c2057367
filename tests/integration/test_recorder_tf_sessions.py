"""Sessions of TensorFlow 1: what they are fed, what goes on inside, what is fetched from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.reports.run_report import run_report
from tests.integration.recording import SCRIPTS, Recorded, by, record

WAY = ("src", "dst", "bytes", "count", "cause")


@pytest.fixture(scope="module")
def recorded(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(tf_python, SCRIPTS / "tf_sessions.py")


def test_what_is_fed_goes_to_the_device_of_the_ops_that_take_it(recorded: Recorded) -> None:
    assert recorded.run.state == "finished", recorded.log[-2000:]
    hops = recorded.hops(*WAY, site="tf_sessions.py:20")
    assert hops == [("cpu:0", "cpu:1", 64 * 32 * 4, 7, "host-upload")]


def test_what_is_fetched_is_taken_at_the_line_of_the_run(recorded: Recorded) -> None:
    assert recorded.hops(*WAY, site="tf_sessions.py:21") == [("cpu:1", "cpu:0", 8, 7, "host-sync")]
    syncs = by(recorded.report["syncs"], site="tf_sessions.py:21")
    assert {(sync["device"], sync["kind"], sync["count"]) for sync in syncs} == {
        ("cpu:0", "session.run", 7),
        ("cpu:1", "session.run", 7),
    }


def test_the_wait_is_for_the_device_that_is_not_the_host(recorded: Recorded) -> None:
    (sync,) = by(recorded.report["syncs"], site="tf_sessions.py:21", device="cpu:1")
    assert sync["wait_ns"] > 0


def test_a_run_that_applies_an_optimizer_is_a_step_within_a_group_too(recorded: Recorded) -> None:
    assert recorded.report["steps"] == 7


def test_the_sessions_own_devices_are_told(recorded: Recorded) -> None:
    assert recorded.report["device_map"]["cpu:1"]["stand_in"] is True


def test_what_crosses_inside_is_told_with_each_run(recorded: Recorded) -> None:
    """GIVEN a variable on cpu:1 that an op on cpu:0 reads, in a plain session's five runs."""
    assert recorded.hops(*WAY, site="tf_sessions.py:16") == [("cpu:1", "cpu:0", 128, 5, "variable-home")]


def test_each_set_of_fetches_is_a_graph_with_its_ops(recorded: Recorded) -> None:
    """THEN also of a monitored session, which asks for metadata of its own in each run."""
    ops = run_report(recorded.run.path, ops=True)["ops"]
    (applied,) = by(ops, type="ResourceApplyGradientDescent")
    assert (applied["assigned"], applied["site"]) == ("cpu:1", "tf_sessions.py:12")
    assert applied["function"].startswith("session.run of group_deps")


def test_calls_of_a_callable_are_said_to_be_unseen(recorded: Recorded) -> None:
    unseen = {row["what"]: row["why"] for row in recorded.report["unseen"]}
    assert list(unseen) == ["calls of a session's callable (make_callable)"]
    assert "was not given out" in unseen["calls of a session's callable (make_callable)"]
