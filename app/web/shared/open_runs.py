"""Runs that are looked at: opened once, read on at most twice a second, shared by all viewers."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.analysis.collectives import Collective, collective_table
from app.analysis.copy_times import cards_in, with_times
from app.analysis.device_order import device_map
from app.analysis.explained import Explained, explained
from app.analysis.finding import Finding
from app.analysis.findings import run_findings
from app.analysis.grouping import placement_diagram
from app.analysis.hidden import hidden
from app.analysis.hops import Hop, hop_table
from app.analysis.lines import Line, SourceFile, source_files, split_site
from app.analysis.matrix import device_matrix
from app.analysis.memory import Memory, memory_table
from app.analysis.placement import placement
from app.analysis.stalls import with_stalls
from app.analysis.syncs import Sync, sync_table
from app.analysis.tables import Tables, tables_of
from app.analysis.told import told_hops
from app.store.progress import ProgressReader
from app.store.run import RunStore, open_run
from app.store.verdicts import VerdictReader
from app.views.matrix_data import Matrix
from app.views.placement_data import Diagram
from app.views.progress_data import Progress
from runners.copy_costs import costs_of_run
from runners.programs.verdicts import Verdict
from runners.run import Run, read_run

_LEAST_PAUSE_S = 0.5
_SHARE_OF_TIME = 4.0
"""Reading and analysing takes at most one part in five of the time."""
_IDLE_S = 180.0
_MOST_DIAGRAMS = 16


class Snapshot:
    """What a run is at one moment; every figure of a page comes from the same one."""

    def __init__(self, store: RunStore, path: Path, spec: Mapping[str, Any]) -> None:
        """Of the run in the folder `path`; `spec` is what it was launched with."""
        self.spec = spec
        self._path = path
        self.generation = store.generation
        self.tables: Tables = tables_of(store)
        self._guard = threading.RLock()
        self._diagrams: dict[tuple[tuple[str, ...], tuple[str, ...]], Diagram] = {}

    @functools.cached_property
    def devices(self) -> list[str]:
        """All devices of the run, for hues that agree."""
        return self.tables.devices

    @functools.cached_property
    def _hops(self) -> list[Hop]:
        mapped = device_map(self.spec, self.tables)
        return with_times(hop_table(self.tables), costs_of_run(self._path, cards_in(mapped)), mapped)

    @functools.cached_property
    def hops(self) -> list[Hop]:
        """The hop table as the findings tell of it, with times where the machine's copies were measured."""
        return told_hops(self._hops, self._findings)

    @functools.cached_property
    def syncs(self) -> list[Sync]:
        """Where Python waited."""
        return with_stalls(sync_table(self.tables), self.tables, self._hops)

    @functools.cached_property
    def collectives(self) -> list[Collective]:
        """All-reduces and their kin."""
        return collective_table(self.tables)

    @functools.cached_property
    def memory(self) -> list[Memory]:
        """The peak of each device."""
        return memory_table(self.tables)

    @functools.cached_property
    def ops(self) -> dict[str, int]:
        """Distinct ops a device."""
        return {row["device"]: row["ops"] for row in placement(self.tables)}

    @functools.cached_property
    def files(self) -> list[SourceFile]:
        """The user's files with what each of their lines made the devices do."""
        return source_files(self.tables, self.hops, self.syncs, self.collectives)

    def line(self, site: str) -> Line | None:
        """What a line, ``train.py:31``, made the devices do; None where it is not in the trace."""
        place = split_site(site)
        if place is None:
            return None
        return next((file.lines.get(place[1]) for file in self.files if file.path == place[0]), None)

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """What the reader should know; what could not be seen is told apart from it."""
        return [finding for finding in self._findings if not finding.unseen]

    @functools.cached_property
    def explained(self) -> list[Explained]:
        """The findings with what stands beside them."""
        return explained(self.findings, self.tables, self.hops)

    @functools.cached_property
    def unseen(self) -> list[Finding]:
        """What could not be seen, which is told first."""
        return [finding for finding in self._findings if finding.unseen]

    @functools.cached_property
    def hidden(self) -> str:
        """What of much of the run was not seen: no finding there is no good news."""
        return hidden(self.tables)

    @functools.cached_property
    def _findings(self) -> list[Finding]:
        return run_findings(self.tables, self._hops, self.syncs, self.spec)

    @functools.cached_property
    def matrix(self) -> Matrix:
        """Bytes and transfers between devices."""
        return device_matrix(self.hops, self.devices, self.tables.stand_ins, collectives=self.collectives)

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
                self._next = time.monotonic() + max(_LEAST_PAUSE_S, took * _SHARE_OF_TIME)
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


_open: dict[Path, OpenRun] = {}
_opening: dict[Path, threading.Lock] = {}
_guard = threading.Lock()


def opened(run: Run) -> OpenRun:
    """The open run of a folder, opened now if nobody looks at it yet.

    Raises HopscopeError when the folder is gone.
    """
    with _guard:
        _let_go(run.path)
        opening = _opening.setdefault(run.path, threading.Lock())
    # Who waits here waits for this run alone: one that is slow to open keeps no other run from being read.
    with opening:
        with _guard:
            known = _open.get(run.path)
            if known is not None:
                known.seen = time.monotonic()
        if known is None:
            known = OpenRun(run.path)
            with _guard:
                _open[run.path] = known
        return known


def _let_go(wanted: Path) -> None:
    """Close the runs that nobody has looked at for a while, and those whose folders are gone."""
    for path, known in list(_open.items()):
        idle = time.monotonic() - known.seen > _IDLE_S and path != wanted
        if idle or not path.exists():
            del _open[path]
            _opening.pop(path, None)
            known.store.close()
