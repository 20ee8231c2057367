"""What a supervisor writes into a run's log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.run_log import LONGEST_KEPT, RunLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.log"


@pytest.fixture
def log(path: Path) -> Iterator[RunLog]:
    log = RunLog(path)
    yield log
    log.finish()
    os.close(log.descriptor)


def take(log: RunLog) -> None:
    """Take all that members printed by now."""
    readable, writable = os.pipe()
    log.wait(readable, 0)
    os.close(readable)
    os.close(writable)


def test_names_are_as_wide_as_the_widest(log: RunLog, path: Path) -> None:
    short, long = log.pipe("ps-0", 8), log.pipe("worker-0", 8)
    os.write(short, b"one\ntwo\n")
    os.write(long, b"three\n")
    take(log)
    assert path.read_text() == "ps-0     | one\nps-0     | two\nworker-0 | three\n"
    os.close(short)
    os.close(long)


def test_half_a_line_waits_for_its_end_and_the_end_of_the_member_is_one(log: RunLog, path: Path) -> None:
    one, two = log.pipe("a", 1), log.pipe("b", 1)
    os.write(one, b"half")
    os.write(two, b"whole\n")
    take(log)
    assert path.read_text() == "b | whole\n"
    os.write(one, b" and half\nlast words")
    os.close(one)
    os.close(two)
    log.finish()
    assert not log.reads
    assert path.read_text() == "b | whole\na | half and half\na | last words\n"


def test_an_overlong_line_comes_in_pieces_and_others_break_it(log: RunLog, path: Path) -> None:
    one, two = log.pipe("a", 1), log.pipe("b", 1)
    piece = b"x" * (LONGEST_KEPT // 2)
    for _ in range(3):
        os.write(one, piece)
        take(log)
    assert path.read_bytes() == b"a | " + 3 * piece
    os.write(two, b"short\n")
    take(log)
    os.write(one, b"rest\n")
    take(log)
    assert path.read_bytes() == b"a | " + 3 * piece + b"\nb | short\na | rest\n"
    os.close(one)
    os.close(two)


def test_its_own_words_begin_a_line_and_follow_what_was_printed(log: RunLog, path: Path) -> None:
    os.write(log.descriptor, b"no newline")
    log.say("first")
    one = log.pipe("a", 1)
    os.write(one, b"printed\nhalf")
    log.say("second")
    os.close(one)
    log.finish()
    assert path.read_text() == "no newline\nhopscope: first\na | printed\nhopscope: second\na | half\n"


def test_what_finds_no_room_is_counted(log: RunLog, path: Path) -> None:
    one = log.pipe("a", 1)
    kept = os.dup(log.descriptor)
    with open("/dev/full", "r+b", buffering=0) as full:  # noqa: PTH123
        os.dup2(full.fileno(), log.descriptor)
        os.write(one, b"lost\n")
        take(log)
    os.dup2(kept, log.descriptor)
    os.close(kept)
    os.write(one, b"kept\n")
    take(log)
    os.close(one)
    assert path.read_text() == "\nhopscope: 9 bytes of output found no room here\na | kept\n"
