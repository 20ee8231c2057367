"""What a trace begins with: which process of which run it is of, and how its clock stands to the wall's."""

from __future__ import annotations

import os
import platform
import socket
import sys
import time
from collections.abc import Iterator
from typing import Optional

from .schema import HeaderFacts

MOST_TRACES = 1000
"""Of one process: one that runs exec without end fills no disk."""


def header(folder: str, pid: int, process: str, framework: str, root: str, mono: int) -> HeaderFacts:
    """The facts of a process whose trace begins in `folder`, and whose times count from `mono`.

    `process` says what it is of its program: ``main``, ``fork``, or a ``block`` that was recorded alone.
    """
    return {
        "run": os.path.basename(os.path.dirname(folder)),
        "host": socket.gethostname(),
        "pid": pid,
        "ppid": os.getppid(),
        "process": process,
        "role": os.environ.get("HOPSCOPE_ROLE") or None,
        "rank": _rank(),
        "framework": framework,
        "python": platform.python_version(),
        "argv": list(getattr(sys, "argv", [])),
        "root": root,
        "wall_ns": time.time_ns() - (time.monotonic_ns() - mono),
        "mono_ns": mono,
    }


def trace_names(pid: int, framework: str) -> Iterator[str]:
    """What a process's trace may be called, without an ending: the first of these that is free.

    A process that uses two frameworks has a trace of each, and after an exec it is the same process still.
    """
    name = f"{pid}-{_start_ticks()}"
    yield name
    yield f"{name}-{framework}"
    for number in range(2, MOST_TRACES):
        yield f"{name}-{framework}-{number}"


def _rank() -> Optional[int]:
    """Its number among the processes of its role, where the launcher gave it one."""
    text = os.environ.get("HOPSCOPE_RANK", "")
    return int(text) if text.isdecimal() else None


def _start_ticks() -> str:
    """The process's start in clock ticks: with the pid it names a process for good (Linux)."""
    try:
        with open("/proc/self/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return str(time.time_ns())
