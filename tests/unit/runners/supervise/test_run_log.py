"""What a supervisor writes into a run's log."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.supervise.run_log import LONGEST_KEPT, RunLog


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.log"


@pytest.fixture
def log(path: Path) -> Iterator[RunLog]:
    log = RunLog(path)
    yield log
    log.finish()


def take(log: RunLog) -> None:
    """Take all that members printed by now."""
    readable, writable = os.pipe()
    log.wait(readable, 0)
    os.close(readable)
    os.close(writable)


@contextlib.contextmanager
def room(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_names_are_as_wide_as_the_widest(log: RunLog, path: Path) -> None:
    short, long = log.pipe("ps-0     | "), log.pipe("worker-0 | ")
    os.write(short, b"one\ntwo\n")
    os.write(long, b"three\n")
    take(log)
    assert path.read_text() == "ps-0     | one\nps-0     | two\nworker-0 | three\n"
    os.close(short)
    os.close(long)


def test_half_a_line_waits_for_its_end_and_the_end_of_the_member_is_one(log: RunLog, path: Path) -> None:
    one, two = log.pipe("a | "), log.pipe("b | ")
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
    one, two = log.pipe("a | "), log.pipe("b | ")
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
    path.write_bytes(b"no newline")
    log.say("first")
    one = log.pipe("a | ")
    os.write(one, b"printed\nhalf")
    log.say("second")
    os.close(one)
    log.finish()
    assert path.read_text() == "no newline\nhopscope: first\na | printed\nhopscope: second\na | half\n"


@pytest.mark.parametrize(("prefix", "kept"), [("a | ", "a | kept\n"), ("", "kept\n")])
def test_what_finds_no_room_is_counted(log: RunLog, path: Path, prefix: str, kept: str) -> None:
    one = log.pipe(prefix)
    with room(2):
        os.write(one, b"lost\n")
        take(log)
        take(log)
    assert log.lost == len(f"{prefix}lost\n") - 2
    assert log.as_json() == {"output_lost": log.lost, "output_lost_why": "File too large"}
    os.write(one, b"kept\n")
    take(log)
    os.close(one)
    begun = f"{prefix}lost"[:2]
    words = f"hopscope: {log.lost} bytes of output were not kept here: File too large\n"
    assert path.read_text() == f"{begun}\n{words}{kept}"


def test_where_there_is_no_room_to_say_so_nothing_follows_the_gap(log: RunLog, path: Path) -> None:
    one = log.pipe("")
    os.write(one, b"begun\n")
    take(log)
    with room(len("begun\n")):
        os.write(one, b"x" * 100)
        take(log)
    with room(len("begun\nhopscope: 100 bytes")):
        os.write(one, b"short\n")
        take(log)
    assert path.read_text() == "begun\n"
    log.say("end")
    os.close(one)
    words = "hopscope: 106 bytes of output were not kept here: File too large\n"
    assert path.read_text() == f"begun\n{words}hopscope: end\n"


def test_a_member_alone_is_kept_byte_for_byte(log: RunLog, path: Path) -> None:
    one = log.pipe("")
    data = bytes(range(256)) * 100
    os.write(one, data)
    os.write(one, b"\r\n\0half")
    os.close(one)
    log.finish()
    assert path.read_bytes() == data + b"\r\n\0half"
    assert log.lost == 0


def test_a_second_reader_gets_each_pipe(path: Path) -> None:
    shared: list[tuple[bool, str]] = []
    log = RunLog(path, lambda descriptor, prefix: shared.append((os.isatty(descriptor), prefix)))
    for descriptor in (log.pipe("a | "), log.pipe("")):
        os.close(descriptor)
    log.finish()
    assert shared == [(False, "a | "), (False, "")]
