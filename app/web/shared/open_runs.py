"""Runs that are looked at: opened once, read on at most twice a second, shared by all viewers."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.diagram.grouping import placement_diagram
from app.facts.tables import tables_of
from app.reports.run_analysis import RunAnalysis
from app.store.progress import ProgressReader
from app.store.run import RunStore, open_run
from app.store.verdicts import VerdictReader
from app.views.placement_data import Diagram
from app.views.progress_data import Progress
from runners.machine.copy_costs import costs_of_run
from runners.programs.verdicts import Verdict
from runners.runs.run import Run, read_run

LEAST_PAUSE_S = 0.5
SHARE_OF_TIME = 4.0
"""Reading and analysing takes at most one part in five of the time."""
IDLE_S = 180.0
_MOST_DIAGRAMS = 16


class Snapshot(RunAnalysis):
    """What a run is at one moment; every figure of a page comes from the same one."""

    def __init__(self, store: RunStore, path: Path, spec: Mapping[str, Any]) -> None:
        """Of the run in the folder `path`; `spec` is what it was launched with."""
        super().__init__(tables_of(store), spec, functools.partial(costs_of_run, path))
        self.generation = store.generation
        self._guard = threading.RLock()
        self._diagrams: dict[tuple[tuple[str, ...], tuple[str, ...]], Diagram] = {}

    def diagram(self, graphs: Sequence[str], opened: Sequence[str]) -> Diagram:
        """The placement diagram of some graphs, by default the one that executed most ops."""
        wanted = tuple(graphs), tuple(opened)
        with self._guard:
            if wanted not in self._diagrams:
                if len(self._diagrams) >= _MOST_DIAGRAMS:
                    del self._diagrams[next(iter(self._diagrams))]
                self._diagrams[wanted] = placement_diagram(self.tables, self.hops, graphs or None, opened)
            return self._diagrams[wanted]


class OpenRun:
    """One run's store and its present snapshot."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = open_run(path)
        self.seen = time.monotonic()
        self._lock = threading.Lock()
        self._progress = ProgressReader(path)
        self._verdicts = VerdictReader(path)
        self._spec = read_run(path).spec
        self._snapshot = Snapshot(self.store, path, self._spec)
        self._next = 0.0
        self._at_its_end = False
        self._sealing: threading.Thread | None = None

    def look(self, ended: bool) -> Snapshot:
        """What the run is now, or was a moment ago; an ended run is sealed in the background."""
        with self._lock:
            self.seen = time.monotonic()
            # After the end nobody looks again, so the last look must not be an old one.
            if self.seen >= self._next or (ended and not self._at_its_end):
                self._at_its_end = ended
                self.store.refresh()
                self._progress.refresh()
                self._verdicts.refresh()
                if self._snapshot.generation != self.store.generation:
                    self._snapshot = Snapshot(self.store, self.path, self._spec)
                took = time.monotonic() - self.seen
                self._next = time.monotonic() + max(LEAST_PAUSE_S, took * SHARE_OF_TIME)
            if ended and not self.store.sealed and self._sealing is None:
                self._sealing = threading.Thread(target=self._seal, name="seal", daemon=True)
                self._sealing.start()
            return self._snapshot

    def progress(self) -> Progress:
        """The program's own progress lines, as of the last look."""
        with self._lock:
            return self._progress.progress()

    def verdicts(self) -> list[Verdict]:
        """What the program has said of its claim, as of the last look."""
        with self._lock:
            return self._verdicts.verdicts()

    def _seal(self) -> None:
        try:
            self.store.seal_own()
        finally:
            with self._lock:
                self._sealing = None
                self._next = 0.0


class OpenRuns:
    """The runs that are looked at now."""

    def __init__(self) -> None:
        self._open: dict[Path, OpenRun] = {}
        self._opening: dict[Path, threading.Lock] = {}
        self._guard = threading.Lock()

    @property
    def paths(self) -> list[Path]:
        """The folders of the runs that are open."""
        with self._guard:
            return list(self._open)

    def opened(self, run: Run) -> OpenRun:
        """The open run of a folder, opened now if nobody looks at it yet.

        Raises HopscopeError when the folder is gone.
        """
        with self._guard:
            self._let_go(run.path)
            opening = self._opening.setdefault(run.path, threading.Lock())
        # Who waits here waits for this run alone: one that is slow to open keeps no other from being read.
        with opening:
            with self._guard:
                known = self._open.get(run.path)
                if known is not None:
                    known.seen = time.monotonic()
            if known is None:
                known = OpenRun(run.path)
                with self._guard:
                    self._open[run.path] = known
            return known

    def _let_go(self, wanted: Path) -> None:
        """Close the runs that nobody has looked at for a while, and those whose folders are gone."""
        for path, known in list(self._open.items()):
            idle = time.monotonic() - known.seen > IDLE_S and path != wanted
            if idle or not path.exists():
                del self._open[path]
                self._opening.pop(path, None)
                known.store.close()


shared = OpenRuns()


def opened(run: Run) -> OpenRun:
    """The open run of a folder, which all viewers share; see `OpenRuns.opened`."""
    return shared.opened(run)
