"""Whether a run still writes: nothing is sealed before it has ended."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from probes.trace.rows import Process
from runners.errors import HopscopeError
from runners.runs.processes import read_stat
from runners.runs.run import read_part, read_run


def read_json(path: Path) -> dict[str, Any]:
    """The spec or status of a run folder, every known field of its type; {} when it cannot be read."""
    with contextlib.suppress(HopscopeError):
        return read_part(path.parent, path.name)[0]
    return {}


def has_ended(folder: Path, processes: Iterable[Process]) -> bool:
    """Whether no process of the run can write to its trace any more.

    A folder that holds no status, as when only a trace was kept, has ended when its processes have.
    """
    return read_run(folder).ended and not any(_may_write(process) for process in processes)


def _may_write(process: Process) -> bool:
    # A reused pid only puts the sealing off; a program that outlives its supervisor goes on writing.
    if process.ended or process.header.get("host") != platform.node():
        return False
    stat = read_stat(process.pid)
    return stat is not None and stat.state not in "ZXx"
