"""The registry's runs in memory: a folder is read again only where it changed, whoever asks how often."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from runners.runs.run import SPEC_NAME, Run
from runners.runs.status import ENDED_STATES, STATUS_NAME

_SETTLED_NS = 2_000_000_000
"""A folder that changed less than this before it was read is read again: file systems have coarse clocks."""
Entry = os.DirEntry[str]


@dataclasses.dataclass(frozen=True)
class _Known:
    stamp: tuple[Any, ...]
    settled: bool
    run: Run


class RunIndex:
    """Looks at the entries of the registry and keeps their runs.

    A run whose status says that it has ended is known by its folder alone: its files are written whole and
    put in place, which changes the folder. Of the others the spec and the status are looked at too.
    """

    def __init__(
        self,
        entries: Callable[[], Iterable[Entry]],
        read: Callable[[Entry], Run],
        order: Callable[[Iterable[Run]], list[Run]],
    ) -> None:
        self.reads = 0
        """How many folders were read so far."""
        self._entries = entries
        self._read = read
        self._order = order
        self._guard = threading.Lock()
        self._known: dict[str, _Known] = {}
        self._runs: Sequence[Run] = ()

    def look(self) -> Sequence[Run]:
        """Return all runs in their order; the same object while nothing changed. HopscopeError passes."""
        with self._guard:
            known = {entry.path: self._look_at(entry) for entry in self._entries()}
            same = len(known) == len(self._known) and all(
                (before := self._known.get(path)) is not None and before.run is now.run
                for path, now in known.items()
            )
            self._known = known
            if not same:
                self._runs = tuple(self._order(one.run for one in known.values()))
            return self._runs

    def _look_at(self, entry: Entry) -> _Known:
        before = self._known.get(entry.path)
        if before is not None and before.settled and before.stamp == _stamp(entry, before.run)[0]:
            return before
        now = time.time_ns()
        self.reads += 1
        # Before it is read: what changes meanwhile is read the next time.
        whole, _ = _stamp(entry, None)
        run = self._read(entry)
        if before is not None and (run.spec, run.status, run.problem) == (
            before.run.spec,
            before.run.status,
            before.run.problem,
        ):
            run = before.run
        stamp, changed_ns = _stamp(entry, run)
        settled = stamp == whole[: len(stamp)] and changed_ns < now - _SETTLED_NS
        return _Known(stamp, settled, run)


def _stamp(entry: Entry, run: Run | None) -> tuple[tuple[Any, ...], int]:
    """What changes with a run's folder, and when that was, in ns since 1970; without a run all of it."""
    paths = [entry.path]
    if run is None or run.status.get("state") not in ENDED_STATES:
        paths += [f"{entry.path}/{name}" for name in (SPEC_NAME, STATUS_NAME)]
    parts, last = [], 0
    for path in paths:
        part = None
        with contextlib.suppress(OSError):
            facts = os.lstat(path)
            part = (facts.st_dev, facts.st_ino, facts.st_mtime_ns, facts.st_size)
            last = max(last, facts.st_mtime_ns)
        parts.append(part)
    return tuple(parts), last
