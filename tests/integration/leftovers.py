"""Which processes of a run are still there, by what the kernel says of every process of this machine."""

from __future__ import annotations

import os
from pathlib import Path

from runners.runs.leftovers import left_running
from runners.runs.processes import Identity, command_line, descendants, identify, is_alive
from runners.runs.run import Run
from tests.integration.waiting import until


def program_processes(run: Run) -> list[Identity]:
    """The living processes of its program: their environment names its folder, or that of one above."""
    return left_running(run.path)


def all_processes(run: Run) -> list[Identity]:
    """Those, what they forked, and what watches and samples the run: these have its folder as an argument."""
    folder = str(run.path.resolve())
    everyone = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    watching = [pid for pid in everyone if pid != os.getpid() and folder in command_line(pid)]
    found = {process.pid for process in program_processes(run)} | set(watching)
    found |= {child.pid for pid in list(found) for child in descendants(pid)}
    return [process for pid in sorted(found) if (process := identify(pid)) and is_alive(process)]


def its_processes(run: Run) -> list[Identity]:
    """`all_processes` once they are its members, what watches it, what samples it, and the sampler.

    One look decides and is kept: another could meet what comes for a moment only.
    """
    return until(lambda: found if len(found := all_processes(run)) == len(run.reload().members) + 3 else [])


def assert_nothing_is_left(run: Run, before: list[Identity]) -> None:
    """Of an ended run: no process of the program now, none of those `before` in a moment.

    Its supervisor writes the end down and then ends itself, and what samples the run with it.
    """
    assert program_processes(run) == []
    until(lambda: not any(map(is_alive, before)) and all_processes(run) == [])
