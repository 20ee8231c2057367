"""Calls between windows: counted at once, written together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from probes.trace.passed_calls import PassedCalls
from probes.trace.recording import Recording
from tests.unit.traces import op_fields


def events(folder: Path) -> list[list[Any]]:
    (trace,) = folder.glob("*.jsonl")
    written = trace.read_bytes().rstrip(b"\0")
    return [row for row in map(json.loads, written.splitlines()) if row[0] == "e"]


def recorded(folder: Path) -> tuple[Recording, PassedCalls, int, int]:
    recording = Recording(str(folder), "tensorflow")
    call = recording.key("call", "call", op_fields("f"))
    recording.uncount(call)
    return recording, PassedCalls(recording), call, recording.step_key(0)


def test_a_call_counts_at_once_and_is_written_at_the_next_tick(tmp_path: Path) -> None:
    recording, calls, call, step = recorded(tmp_path)
    for start in (recording.mono + 10, recording.mono + 20):
        calls.add(call, start, 5, step, 1)
    assert (recording.kept_counts[call], recording.kept_counts[step], recording.step) == (2, 2, 2)
    assert events(tmp_path) == []
    recording.tick()
    found = [row[1:8] for row in events(tmp_path)]
    assert found == [
        ["call", 10, 5, call, 1, None, None],
        ["mark", 15, 0, step, 1, 1, None],
        ["call", 20, 5, call, 1, 1, None],
        ["mark", 25, 0, step, 1, 2, None],
    ]
    recording.tick()
    assert len(events(tmp_path)) == len(found)
    recording.end()


def test_the_end_of_the_process_and_many_calls_write_them(tmp_path: Path) -> None:
    recording, calls, call, step = recorded(tmp_path)
    for _ in range(513):
        calls.add(call, recording.mono, 1, step, 0)
    assert len(events(tmp_path)) == 513
    calls.add(call, recording.mono, 1, step, 0)
    recording.end()
    assert [row[1] for row in events(tmp_path)] == ["call"] * 514
