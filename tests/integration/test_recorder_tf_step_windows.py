"""A long run is recorded in windows of steps: what it reports is what a recording of all steps reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from probes.trace.rows import BETWEEN_WINDOWS
from tests.integration.recording import SCRIPTS, Recorded, record

STEPS = 600
Rows = dict[tuple[Any, ...], tuple[int, str]]


@pytest.fixture(scope="module")
def runs(tf_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Recorded, Recorded]:
    """By default, and with each step recorded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
        script = SCRIPTS / "many_steps.py"
        windows, exact = [record(tf_python, script, str(STEPS), exact=exact) for exact in (False, True)]
    return windows, exact


def rows(run: Recorded, kind: str, *names: str) -> Rows:
    """Count and basis of each row."""
    return {tuple(row[name] for name in names): (row["count"], row["basis"]) for row in run.report[kind]}


def test_each_step_is_counted_and_most_are_not_recorded(runs: tuple[Recorded, Recorded]) -> None:
    windows, exact = runs
    assert windows.report["steps"] == exact.report["steps"] == STEPS
    (unseen,) = [row for row in windows.report["unseen"] if row["what"] == BETWEEN_WINDOWS]
    assert STEPS / 2 < unseen["count"] < STEPS
    assert not [row for row in exact.report["unseen"] if row["what"] == BETWEEN_WINDOWS]


def test_transfers_are_the_same_and_those_of_each_step_are_sampled(runs: tuple[Recorded, Recorded]) -> None:
    windows, exact = [
        rows(run, "hops", "src", "dst", "op", "producer", "producer_site", "site", "bytes") for run in runs
    ]
    assert windows.keys() == exact.keys()
    each = [row for row, (count, _) in exact.items() if count and count > STEPS / 2]
    assert len(each) >= 4
    assert {row: windows[row][1] for row in each} == dict.fromkeys(each, "sampled")
    for row, (count, _) in exact.items():
        assert windows[row][0] == pytest.approx(count, rel=0.02, abs=1), row


def test_reads_are_the_same_also_those_of_every_tenth_step(runs: tuple[Recorded, Recorded]) -> None:
    windows, exact = [rows(run, "syncs", "device", "kind", "site") for run in runs]
    assert windows.keys() == exact.keys()
    for row, (count, _) in exact.items():
        assert windows[row][0] == pytest.approx(count, rel=0.1, abs=1), row


def test_what_comes_after_the_last_step_is_recorded(runs: tuple[Recorded, Recorded]) -> None:
    windows, exact = [run.hops("src", "dst", "op", "bytes", "count", site="many_steps.py:35") for run in runs]
    assert ("cpu:1", "cpu:0", "Python", 512, 1) in exact
    assert windows == exact


def test_findings_are_the_same(runs: tuple[Recorded, Recorded]) -> None:
    windows, exact = [
        [(one["code"], one["severity"], one["site"]) for one in run.report["findings"]] for run in runs
    ]
    assert sorted(windows, key=str) == sorted(exact, key=str)


@pytest.mark.parametrize(("every", "tolerance"), [(100, 0), (30, 2), (10, 20)])
def test_what_happens_now_and_then_is_counted_too(
    tf_python: Path, hopscope_home: Path, every: int, tolerance: int
) -> None:
    run = record(tf_python, SCRIPTS / "reads_now_and_then.py", str(every))
    for kind in ("syncs", "hops"):
        found = [(row["count"], row["basis"]) for row in run.report[kind] if row["count"] > 1]
        assert found, kind
        for count, basis in found:
            assert basis == "sampled"
            assert count == pytest.approx(2000 / every, abs=tolerance)
