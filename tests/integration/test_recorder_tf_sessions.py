"""Sessions of TensorFlow 1: what they are fed, what is fetched from them, and that more is not seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record

WAY = ("src", "dst", "bytes", "count", "cause")


@pytest.fixture(scope="module")
def recorded(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        return record(tf_python, SCRIPTS / "tf_sessions.py")


def test_what_is_fed_goes_to_the_device_of_the_ops_that_take_it(recorded: Recorded) -> None:
    assert recorded.run.state == "finished", recorded.log[-2000:]
    hops = recorded.hops(*WAY, site="tf_sessions.py:18")
    assert hops == [("cpu:0", "cpu:1", 64 * 32 * 4, 7, "host-upload")]


def test_what_is_fetched_is_taken_at_the_line_of_the_run(recorded: Recorded) -> None:
    assert recorded.hops(*WAY, site="tf_sessions.py:19") == [("cpu:1", "cpu:0", 8, 7, "host-sync")]
    syncs = by(recorded.report["syncs"], site="tf_sessions.py:19")
    assert {(sync["device"], sync["kind"], sync["count"]) for sync in syncs} == {
        ("cpu:0", "session.run", 7),
        ("cpu:1", "session.run", 7),
    }


def test_the_wait_is_for_the_device_that_is_not_the_host(recorded: Recorded) -> None:
    (sync,) = by(recorded.report["syncs"], site="tf_sessions.py:19", device="cpu:1")
    assert sync["wait_ns"] > 0


def test_a_run_that_applies_an_optimizer_is_a_step_within_a_group_too(recorded: Recorded) -> None:
    assert recorded.report["steps"] == 7


def test_the_sessions_own_devices_are_told(recorded: Recorded) -> None:
    assert recorded.report["device_map"]["cpu:1"]["stand_in"] is True


def test_that_the_ops_inside_are_not_followed_is_told(recorded: Recorded) -> None:
    unseen = {row["what"]: row["why"] for row in recorded.report["unseen"]}
    assert "places its graph itself" in unseen["ops inside a session of TensorFlow 1"]
    assert "calls of a session's callable (make_callable)" in unseen
