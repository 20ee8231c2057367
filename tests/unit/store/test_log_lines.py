"""What a log or a trace lacks takes no time to read: a folder may hold a file of a terabyte."""

from __future__ import annotations

import os
from pathlib import Path

from app.store.log import LOG_NAME
from app.store.log_lines import LogLines
from app.store.tail import FileTail

TERABYTE = 1 << 40


def test_holes_of_a_log_are_skipped(tmp_path: Path) -> None:
    log = tmp_path / LOG_NAME
    log.write_bytes(b"first\n")
    lines = LogLines(tmp_path)
    assert list(lines.read()) == [b"first"]
    os.truncate(log, TERABYTE)
    with log.open("ab") as more:
        more.write(b"last\n")
    assert [line.strip(b"\0") for line in lines.read()][-1] == b"last"
    os.truncate(log, 2 * TERABYTE)
    assert list(lines.read()) == []


def test_holes_of_a_trace_are_skipped(tmp_path: Path) -> None:
    trace = tmp_path / "1-1.jsonl"
    trace.write_bytes(b'["S",1,"a"]\n')
    tail = FileTail(tmp_path, trace.name)
    assert tail.read() == b'["S",1,"a"]\n'
    os.truncate(trace, TERABYTE)
    with trace.open("ab") as more:
        more.write(b"behind the hole")
    assert tail.leftover() == len(b"behind the hole")
