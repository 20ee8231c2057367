"""What strategies' own machinery does is told as theirs, not as the code's mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.recording import SCRIPTS, Recorded, by, record


@pytest.fixture(scope="module")
def batches(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        recorded = record(tf_python, SCRIPTS / "distributed_batches.py")
    assert recorded.run.state == "finished", recorded.log[-2000:]
    return recorded


def test_a_distributed_datasets_check_for_its_end_is_no_warning(batches: Recorded) -> None:
    """The iterator takes a value from each device before each step to see whether there is another batch."""
    checks = by(batches.report["syncs"], site="distributed_batches.py:31")
    assert {sync["kind"] for sync in checks} == {"end-of-data check"}
    assert {sync["count"] for sync in by(checks, device="cpu:1")} == {12}
    (finding,) = by(batches.report["findings"], code="host-sync", site="distributed_batches.py:31")
    assert finding["severity"] == "info"
    assert "by end-of-data check" in finding["summary"]


def test_a_custom_loop_with_nothing_wrong_has_no_warnings(batches: Recorded) -> None:
    assert batches.report["steps"] == 12
    assert [f["summary"] for f in batches.report["findings"] if f["severity"] != "info"] == []


def test_what_replicas_sum_together_is_charged_to_the_optimizers_line(batches: Recorded) -> None:
    """Their threads hand it over to the main thread, which stands at `strategy.run` meanwhile."""
    sums = [row["site"] for row in batches.report["collectives"] if row["payload_bytes"] == 32]
    assert set(sums) == {"distributed_batches.py:24"}
