"""How much CPU time and memory all processes of a run take together, from /proc.

The run's processes are the descendants of its supervisor, who takes in the orphans among them. Only the
standard library is used.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PROC = Path("/proc")
LOOK_AGAIN_EVERY = 30
"""After so many readings, pids that were others' are looked at again: a pid may have been used anew."""


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """What /proc/PID/stat says of one process that matters here."""

    parent: int
    own: int
    """Clock ticks that it took itself."""
    waited: int
    """Clock ticks of its children that it has waited for."""
    pages: int


class RunUsage:
    """What the descendants of one process use; the share of CPU is that since the last reading."""

    def __init__(self, root: int, proc: Path = PROC) -> None:
        """`root` is the supervisor's pid; it does not count itself."""
        self._root = root
        self._proc = proc
        self._others: set[int] = set()
        self._readings = 0
        self._last: tuple[float, int] | None = None
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._cores = os.cpu_count() or 1

    def read(self, now: float) -> dict[str, Any]:
        """Return `processes`, `memory_bytes` and, from the second reading on, `cpu_percent` at `now`.

        `now` is in seconds of the monotonic clock. The percentage is of all cores, so 100 is all there are;
        memory is what is resident, pages that processes share counted for each. {} without a /proc.
        """
        if self._readings % LOOK_AGAIN_EVERY == 0:
            self._others.clear()
        self._readings += 1
        root = self._stat(self._root)
        if root is None:
            return {}
        found = self._find(self._pids())
        # What ended and was waited for is in its parent's account, in the end in the supervisor's.
        ticks = root.waited + sum(times.own + times.waited for times in found.values())
        usage: dict[str, Any] = {
            "processes": len(found),
            "memory_bytes": sum(times.pages for times in found.values()) * self._page_bytes,
        }
        if self._last is not None and now > self._last[0]:
            busy_s = max(0, ticks - self._last[1]) * self._tick_s
            usage["cpu_percent"] = round(min(100.0, 100 * busy_s / (now - self._last[0]) / self._cores), 1)
        self._last = now, ticks
        return usage

    def _pids(self) -> set[int]:
        try:
            return {int(entry.name) for entry in self._proc.iterdir() if entry.name.isdigit()}
        except OSError:
            return set()

    def _find(self, pids: set[int]) -> dict[int, Times]:
        """Return the run's processes among these; those of others are not read again."""
        self._others &= pids
        read = {pid: times for pid in pids - self._others if (times := self._stat(pid)) is not None}
        found: dict[int, Times] = {}
        children: dict[int, list[int]] = {}
        for pid, times in read.items():
            children.setdefault(times.parent, []).append(pid)
        # One whose parent ended since was taken in by the supervisor and is its child.
        queue = list(children.get(self._root, ()))
        while queue:
            pid = queue.pop()
            found[pid] = read[pid]
            queue += children.get(pid, ())
        self._settle(read.keys() - found.keys(), read)
        return found

    def _settle(self, strangers: Iterable[int], read: dict[int, Times]) -> None:
        """Note which have none of the run's above them; where an ancestor just ended, that is not known."""
        for pid in strangers:
            ancestor = pid
            while ancestor in read:
                ancestor = read[ancestor].parent
            if ancestor == 0 or ancestor in self._others:
                self._others.add(pid)

    def _stat(self, pid: int) -> Times | None:
        try:
            text = (self._proc / str(pid) / "stat").read_bytes()
            # The command's name stands in brackets and may hold spaces and brackets itself.
            fields = text[text.rindex(b")") + 1 :].split()
            own, waited = int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
            return Times(int(fields[1]), own, waited, int(fields[21]))
        except (OSError, ValueError, IndexError):
            return None
