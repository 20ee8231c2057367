"""What a run's processes use, from a made-up /proc and from the real one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runners.supervise import run_usage
from runners.supervise.run_usage import RunUsage

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
CORES = os.cpu_count() or 1


class Proc:
    """A folder that looks like /proc."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "self").mkdir()

    def put(
        self, pid: int, parent: int, own: float = 0, waited: float = 0, pages: int = 10, name: str = "a"
    ) -> None:
        """`own` and `waited` in seconds."""
        fields = ["0"] * 50
        fields[0], fields[1], fields[2] = str(pid), f"({name})", "S"
        fields[3] = str(parent)
        fields[13], fields[15] = str(int(own * TICKS)), str(int(waited * TICKS))
        fields[23] = str(pages)
        (self.path / str(pid)).mkdir(exist_ok=True)
        (self.path / str(pid) / "stat").write_text(" ".join(fields))

    def end(self, pid: int) -> None:
        shutil.rmtree(self.path / str(pid))


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    made = Proc(tmp_path)
    made.put(1, 0)
    made.put(50, 1, own=9)
    made.put(51, 50, own=9)
    made.put(100, 1, own=7, name="supervisor")
    return made


def test_all_descendants_count_and_nobody_else(proc: Proc) -> None:
    proc.put(101, 100, own=1, pages=3, name="a) S 1 (b")
    proc.put(102, 101, own=2, pages=4)
    usage = RunUsage(100, proc.path)
    assert usage.read(0.0) == {"processes": 2, "memory_bytes": 7 * PAGE}
    proc.put(101, 100, own=1 + CORES / 2, pages=3)
    proc.put(51, 50, own=20)
    assert usage.read(2.0) == {"processes": 2, "memory_bytes": 7 * PAGE, "cpu_percent": 25.0}


def test_what_ended_children_took_is_counted_once(proc: Proc) -> None:
    proc.put(101, 100, own=1)
    proc.put(102, 101, own=1)
    usage = RunUsage(100, proc.path)
    usage.read(0.0)
    # One child ended after half a second more, one whole came and went in between.
    proc.end(102)
    proc.put(101, 100, own=1, waited=1 + CORES * 0.5)
    assert usage.read(1.0)["cpu_percent"] == 50.0
    # In the end all is in the account of the supervisor, whose own time is not the run's.
    proc.end(101)
    proc.put(100, 1, own=70, waited=2 + CORES * 0.5)
    assert usage.read(2.0) == {"processes": 0, "memory_bytes": 0, "cpu_percent": 0.0}


def test_new_processes_are_found_and_orphans_stay(proc: Proc) -> None:
    proc.put(101, 100)
    usage = RunUsage(100, proc.path)
    assert usage.read(0.0)["processes"] == 1
    proc.put(60, 51)
    proc.put(103, 102)
    proc.put(102, 101)
    assert usage.read(1.0)["processes"] == 3
    proc.end(101)
    proc.put(102, 100)
    assert usage.read(2.0)["processes"] == 2


def test_a_process_whose_parent_just_ended_is_not_taken_for_anothers(proc: Proc) -> None:
    usage = RunUsage(100, proc.path)
    proc.put(103, 102)
    assert usage.read(0.0)["processes"] == 0
    proc.put(103, 100)
    assert usage.read(1.0)["processes"] == 1


def test_a_pid_of_anothers_that_is_used_anew_is_found_in_time(
    proc: Proc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_usage, "LOOK_AGAIN_EVERY", 3)
    usage = RunUsage(100, proc.path)
    usage.read(0.0)
    proc.put(51, 100)
    assert [usage.read(1.0 + number)["processes"] for number in range(3)] == [0, 0, 1]


def test_damaged_entries_are_passed_over(proc: Proc) -> None:
    proc.put(101, 100)
    (proc.path / "102").mkdir()
    (proc.path / "103").mkdir()
    (proc.path / "103" / "stat").write_text("103 (a")
    assert RunUsage(100, proc.path).read(0.0)["processes"] == 1


def test_without_the_supervisor_there_is_nothing(proc: Proc) -> None:
    usage = RunUsage(100, proc.path)
    proc.end(100)
    assert usage.read(0.0) == {}


def test_a_real_process_is_seen() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        usage = RunUsage(os.getpid()).read(0.0)
        assert child.stdin is not None
        child.stdin.close()
    assert usage["processes"] >= 1
    assert usage["memory_bytes"] > 0
