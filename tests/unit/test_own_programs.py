"""How programs are run with and without the recorder: what counts as a difference, and what is a program."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

from tests.own_programs.cases import FRAMEWORKS, read_cases
from tests.own_programs.observed import observe

FEWEST = 50
GET_CHILD_SUBREAPER = 37
ENV = {"PATH": "/usr/bin:/bin"}


def test_there_are_enough_programs_and_each_says_what_it_uses() -> None:
    cases = read_cases()
    assert len({case.script for case in cases}) >= FEWEST
    assert all(case.uses and case.framework in FRAMEWORKS for case in cases)
    assert len({case.name for case in cases}) == len(cases)


def run(text: str, folder: Path, *arguments: str) -> list[str]:
    """What differs between two runs, of which the second gets these arguments."""
    script = folder / "script.py"
    script.write_text("import os, sys\nsecond = len(sys.argv) > 1\n" + text)
    words, work = [sys.executable, str(script)], folder / "case" / "work"
    return observe(words, work, ENV).differences(observe([*words, *(arguments or ("2",))], work, ENV))


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    text = (
        "print('I1122 10:20:30.%d  %d file.cc:1] line' % (second, os.getpid()))\nopen('made', 'w').write('x')"
    )
    assert run(text, tmp_path) == []


def test_output_status_and_files_are_compared(tmp_path: Path) -> None:
    assert run("print('a')\nprint('b', second)", tmp_path) == [
        "standard output line 2: b'b False', then b'b True'"
    ]
    assert run("sys.exit(second)", tmp_path) == ["end: status 0, then status 1"]
    assert run("second and os.kill(os.getpid(), 9)", tmp_path) == ["end: status 0, then signal SIGKILL"]
    [line] = run("open('made', 'w').close()\nos.chmod('made', 0o600 + second)", tmp_path)
    assert line.startswith("file made: -rw------- ")
    [line] = run("second and os.mkdir('more')", tmp_path)
    assert line.startswith("file more: missing, then drwx")


def test_what_a_program_starts_and_leaves_is_waited_for(tmp_path: Path) -> None:
    late = "os.setsid(); import time; time.sleep(0.3); open('late', 'w').write(str(second))"
    text = f"if os.fork() == 0:\n    {late}"
    [line] = run(text, tmp_path)
    assert line.startswith("file late: ")


def test_other_children_of_this_process_are_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "input(); raise SystemExit(7)"], stdin=subprocess.PIPE
    ) as other:
        assert run("", tmp_path) == []
        assert other.poll() is None
        other.communicate(b"\n")
    assert other.returncode == 7
    adopting = ctypes.c_int(-1)
    ctypes.CDLL(None).prctl(GET_CHILD_SUBREAPER, ctypes.byref(adopting), 0, 0, 0)
    assert adopting.value == 0
