"""What follows from other steps says so: transfers, reads and collectives of steps that were not recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.reports.run_report import run_report
from probes.trace.recording import SAMPLED
from probes.trace.rows import BETWEEN_WINDOWS
from tests.unit.traces import SECOND, Trace, hop_fields

READ = {"device": "cpu:1", "kind": "numpy", "bytes": 4, "basis": "measured"}
SUM = {
    "op": "AllReduce",
    "devices": ["cpu:0", "cpu:1"],
    "tensors": 1,
    "payload_bytes": 100,
    "wire_bytes": 200,
    "algorithm": "ring",
    "basis": "estimated",
    "graph": 0,
    "per_call": None,
}


def report(folder: Path, value: int | None, between: int = 90) -> dict[str, Any]:
    """Of a run with 10 executions of each of three things, and 90 that an event with this value adds."""
    trace = Trace(folder)
    line = trace.location("train.py:31")
    keys = {
        "hop": trace.key("hop", 100, **hop_fields("cpu:0", "cpu:1", loc=line)),
        "sync": trace.key("sync", 100, **READ, loc=line),
        "collective": trace.key("collective", 100, **SUM, loc=line),
    }
    for kind, key in keys.items():
        for number in range(10):
            trace.event(kind, number * SECOND, key, dur=5)
        trace.event(kind, 20 * SECOND, key, count=90, value=value)
    if between:
        trace.unseen(BETWEEN_WINDOWS, between, "their counts follow")
    trace.close()
    (folder / "spec.json").write_text('{"version": 1, "id": "r", "framework": "tensorflow"}')
    (folder / "status.json").write_text('{"state": "finished", "exit_code": 0}')
    return run_report(folder)


@pytest.mark.parametrize("kind", ["hops", "syncs", "collectives"])
def test_a_count_that_follows_from_other_steps_is_sampled(tmp_path: Path, kind: str) -> None:
    (counted,) = report(tmp_path / "counted", None, between=0)[kind]
    (sampled,) = report(tmp_path / "sampled", SAMPLED)[kind]
    assert sampled["basis"] == "sampled"
    assert counted["basis"] != "sampled"
    assert sampled["count"] == counted["count"] == 100


@pytest.mark.parametrize("kind", ["hops", "syncs", "collectives"])
def test_what_may_have_been_missed_is_not_measured(tmp_path: Path, kind: str) -> None:
    (found,) = report(tmp_path / "run", None)[kind]
    assert (found["count"], found["basis"]) == (100, "sampled")


def test_steps_between_windows_are_steps_as_the_head_counts_them(tmp_path: Path) -> None:
    trace = Trace(tmp_path / "run")
    for line, count in (("train.py:5", 1600), ("train.py:9", 400)):
        key = trace.key("mark", count, name="step", loc=trace.location(line))
        trace.event("mark", SECOND, key, count=count)
    trace.unseen(BETWEEN_WINDOWS, 1700, "their counts follow")
    trace.close()
    (tmp_path / "run" / "spec.json").write_text('{"version": 1, "id": "r", "framework": "tensorflow"}')
    (tmp_path / "run" / "status.json").write_text('{"state": "finished", "exit_code": 0}')
    found = run_report(tmp_path / "run")
    (note,) = found["notes"]
    assert int(note.split()[0].replace(",", "")) == found["steps"] * 1700 // 2000


def test_steps_between_windows_are_named_and_are_no_finding(tmp_path: Path) -> None:
    found = report(tmp_path / "run", SAMPLED)
    assert [row["what"] for row in found["unseen"]] == [BETWEEN_WINDOWS]
    assert found["notes"] == [
        "90 steps were not recorded in full: the counts of their eager ops, reads and transfers follow from"
        " the steps that were (sampled). --exact records each step."
    ]
    assert not [one for one in found["findings"] if "windows" in one["summary"]]
