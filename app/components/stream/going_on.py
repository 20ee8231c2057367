"""The runs that go on now, with their processes, for a page that asks every few seconds."""

from __future__ import annotations

import dataclasses
import os
import time
from typing import Any

from probes.attach.members import alive
from runners.catalogue import PROGRAMS
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import HopscopeError
from runners.runs import registry
from runners.runs.processes import PROC, Stat, command_line, descendants, read_stat
from runners.runs.run import Run
from runners.runs.status import ENDED_STATES

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_LONGEST_COMMAND = 300


@dataclasses.dataclass(frozen=True)
class _Spent:
    """Processor time of a process when it was looked at, seconds."""

    cpu: float
    at: float


class GoingOn:
    """Looks for runs that go on, with what they used since the last look."""

    def __init__(self) -> None:
        self._spent: dict[tuple[int, int], _Spent] = {}

    def look(self) -> list[dict[str, Any]]:
        """The runs that go on, oldest first.

        ``{"id", "name", "framework", "state", "devices": [..], "stand_ins": [..], "processes": [{"pid",
        "command", "cpu_percent", "memory_bytes"}]}``; processor time in percent of one core since the last
        look, None at the first; memory is resident. The supervisor is not among them.
        """
        seen: dict[tuple[int, int], _Spent] = {}
        found = [self._describe(run, seen) for run in self._runs()]
        self._spent = seen
        return found

    @staticmethod
    def _runs() -> list[Run]:
        try:
            found = registry.runs()
        except HopscopeError:
            return []
        return [run for run in reversed(found) if run.judge(current=True)[0] not in ENDED_STATES]

    def _describe(self, run: Run, seen: dict[tuple[int, int], _Spent]) -> dict[str, Any]:
        program = PROGRAMS.get(run.name) if run.spec.get("kind") == "program" else None
        devices = run.spec.get("device_map")
        known = devices if isinstance(devices, dict) else {}
        return {
            "id": run.id,
            "name": program.title if program else run.name,
            "framework": FRAMEWORKS[run.framework].title if run.framework in FRAMEWORKS else "",
            "state": run.state,
            "devices": list(known),
            "stand_ins": [name for name, fact in known.items() if _stands_in(fact)],
            "processes": [self._process(stat, seen) for stat in _processes(run)],
        }

    def _process(self, stat: Stat, seen: dict[tuple[int, int], _Spent]) -> dict[str, Any]:
        key = (stat.pid, stat.start)
        spent = _spent(stat.pid)
        percent = None
        if spent is not None:
            seen[key] = spent
            before = self._spent.get(key)
            if before is not None and spent.at > before.at:
                percent = round(100 * (spent.cpu - before.cpu) / (spent.at - before.at), 1)
        return {
            "pid": stat.pid,
            "command": " ".join(command_line(stat.pid))[:_LONGEST_COMMAND],
            "cpu_percent": percent,
            "memory_bytes": _resident(stat.pid),
        }


def _processes(run: Run) -> list[Stat]:
    """A run's processes: what its supervisor has started, or those that record themselves and their own."""
    if run.supervisor is not None:
        return descendants(run.supervisor.pid)
    members = [read_stat(member["pid"]) for member in run.attached if alive(member)]
    found = {stat.pid: stat for member in members if member for stat in (member, *descendants(member.pid))}
    return list(found.values())


def _stands_in(fact: object) -> bool:
    return isinstance(fact, dict) and bool(fact.get("stand_in"))


def _spent(pid: int) -> _Spent | None:
    try:
        fields = (PROC / str(pid) / "stat").read_bytes().rsplit(b")", 1)[1].split()
        return _Spent((int(fields[11]) + int(fields[12])) / _TICKS, time.monotonic())
    except (OSError, ValueError, IndexError):
        return None


def _resident(pid: int) -> int | None:
    try:
        return int((PROC / str(pid) / "statm").read_bytes().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return None
