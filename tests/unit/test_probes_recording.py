"""One process's traces: of two frameworks, and of blocks one after the other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from probes.trace.recording import Recording
from tests.unit.traces import op_fields


def rows(folder: Path) -> list[list[Any]]:
    (trace,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in trace.read_text().splitlines()]


def counts(folder: Path, recording: Recording) -> list[int]:
    (file,) = folder.glob("*.counts")
    data = file.read_bytes()
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, 8 * 5, 8)]


def test_two_frameworks_in_one_process_have_a_trace_each(tmp_path: Path) -> None:
    recordings = [Recording(str(tmp_path), framework) for framework in ("tensorflow", "mxnet")]
    for recording in recordings:
        recording.key("k", "op", op_fields(recording.framework))
        recording.end()
    found = {}
    for trace in tmp_path.glob("*.jsonl"):
        lines = [json.loads(line) for line in trace.read_text().splitlines()]
        found[lines[0][2]["framework"]] = [row[3]["op"] for row in lines if row[0] == "K"]
    assert found == {"tensorflow": ["tensorflow"], "mxnet": ["mxnet"]}


def test_a_block_has_earlier_definitions_and_counts_of_its_own(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    recording = Recording(None, "mxnet", str(tmp_path))
    before = recording.key("before", "op", op_fields("before"))
    recording.happened(before, "op")
    opened: list[str] = []
    recording.on_open.append(lambda: opened.append(recording.folder))

    recording.open(str(first))
    inside = recording.key("inside", "op", op_fields("inside"))
    for _ in range(300):
        recording.happened(inside, "op")
    recording.stepped()
    recording.close()
    between = recording.key("between", "op", op_fields("between"))
    recording.happened(between, "op", times=7)
    recording.happened(inside, "op", times=7)

    recording.open(str(second))
    assert recording.step is None
    recording.happened(inside, "op", times=2)
    recording.close()
    recording.end()

    named = {row[1]: row[3].get("op") for row in rows(first) if row[0] == "K"}
    assert (named[before], named[inside]) == ("before", "inside")
    assert between not in named
    assert counts(first, recording)[inside] == 300
    assert sum(row[5] for row in rows(first) if row[0] == "e" and row[4] == inside) == 300

    named = {row[1]: row[3].get("op") for row in rows(second) if row[0] == "K"}
    assert (named[before], named[inside], named[between]) == ("before", "inside", "between")
    assert [counts(second, recording)[key] for key in (before, inside, between)] == [0, 2, 0]
    assert sum(row[5] for row in rows(second) if row[0] == "e" and row[4] == inside) == 2
    for folder, process in ((first, "block"), (second, "block")):
        lines = rows(folder)
        assert lines[0][2]["process"] == process
        assert lines[-1][2] == {"ended": True}
    assert opened == [str(first), "", str(second), ""]


def test_a_fork_between_blocks_writes_nothing(tmp_path: Path) -> None:
    recording = Recording(None, "mxnet", str(tmp_path))
    recording.open(str(tmp_path / "one"))
    recording.close()
    if (child := os.fork()) == 0:
        recording.happened(recording.key("k", "op", op_fields("k")), "op")
        recording.end()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list((tmp_path / "one").glob("*.jsonl"))) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


def test_an_end_without_memory_raises_nothing(tmp_path: Path) -> None:
    """Its traceback stood in the output of a program whose address space was limited."""
    recording = Recording(str(tmp_path), "tensorflow")
    recording.happened(recording.key("k", "op", op_fields("MatMul")), "op")

    def tick() -> None:
        raise MemoryError

    recording.tickers.append(tick)
    recording.end()
    assert recording.ending
    assert "K" in {row[0] for row in rows(tmp_path)}
