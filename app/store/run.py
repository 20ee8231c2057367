"""A run as tables: read live from its traces while it goes on, from sealed Parquet files afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb
import pyarrow as pa

from app.store import schemas, sealing, timeline
from app.store.coarse import BINS, overview_table
from app.store.database import Database
from app.store.device_names import process_names
from app.store.ended import has_ended, read_json
from app.store.lanes import LaneTable
from app.store.live import LiveRun
from app.store.losses import losses
from app.store.pace_reader import PaceReader
from app.store.paces import Paces
from app.store.sample_parsing import Numbers, SampleTable
from app.store.samples import PARQUET_NAME, SampleReader, positions, read_samples, samples_table
from app.store.sealed import SealedRun
from app.store.totals import EventTotals, KeyTotals
from app.views.memory_data import MemorySeries
from app.views.timeline_data import Overview, Window
from probes.trace.rows import Edge, Event, Graph, Key, Location, Node, Process, Unseen
from runners.errors import HopscopeError
from runners.printable import encodable, printable
from runners.runs import registry
from runners.runs.run import SPEC_NAME
from runners.runs.status import STATUS_NAME

_RETRY_SEAL_S = 60.0
_Value = TypeVar("_Value")


class _Rows(Protocol):
    """Where the small tables come from: the traces, or the sealed files."""

    definitions: int

    def processes(self) -> list[Process]: ...
    def locations(self) -> dict[int, Location]: ...
    def keys(self) -> list[Key]: ...
    def graphs(self, keys: list[Key]) -> dict[int, Graph]: ...
    def graph_ids(self) -> list[int]: ...
    def nodes(self, graph: int) -> list[Node]: ...
    def edges(self, graph: int) -> list[Edge]: ...
    def unseen(self, ended: bool) -> list[Unseen]: ...
    def close(self) -> None: ...


def open_run(path: Path) -> RunStore:
    """Open a run's folder, running or ended, here or copied from elsewhere, writable or not.

    What can't be read in it is among `unseen()`. Raises HopscopeError when there is no such folder.
    """
    return RunStore(path)


class RunStore:
    """One run's tables; share one between all viewers: every method may be called from any thread.

    Ids are the run's own: process index << 32 | the process's id. Times of events are nanoseconds since
    the first process's header. Rows that are handed out are shared: don't change them.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise HopscopeError(f"There is no run folder {path}: it may have been removed")
        self.path = path
        self.generation = 0
        """Grows when anything changed."""
        self.sealed = False
        self._lock = threading.RLock()
        self._database = Database()
        self._totals = EventTotals()
        self._cache: dict[str, tuple[Any, Any]] = {}
        self._graph_rows: dict[tuple[str, int], list[Any]] = {}
        self._paces = PaceReader(self._database)
        self._lanes = LaneTable()
        self._lanes_at: Any = None
        self._synced = -1
        self._no_seal_before = 0.0
        self._samples = SampleReader(path)
        self._rows: _Rows
        if not self._use_sealed():
            self._rows = LiveRun(path, self._database.add_events, self._totals)
            self.refresh()

    # -- the run's growth --------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Read what was appended since the last time; true when anything changed."""
        if self.sealed:
            return False
        with self._lock:
            if not isinstance(self._rows, LiveRun):
                return False
            # They have a table of their own, and change nothing in what is worked out from the others.
            self._samples.refresh()
            before = self._rows.definitions
            if not self._rows.refresh():
                return False
            if self._rows.definitions != before:
                self._graph_rows.clear()
            self.generation += 1
            return True

    def ended(self) -> bool:
        """Whether nothing can be appended any more."""
        return self.sealed or has_ended(self.path, self.processes())

    def seal(self) -> bool:
        """Write the tables of an ended run to Parquet and answer from there; true when they are there.

        False, with everything as before, while the run goes on and where its folder can't be written.
        """
        if self.sealed:
            return True
        with self._lock:
            if time.monotonic() < self._no_seal_before or not self.ended():
                return self.sealed
            self.refresh()
            if not self._rows.processes():
                return False
            try:
                self._write()
            except (OSError, UnicodeEncodeError, duckdb.Error, pa.ArrowException):
                # Parquet's writers take no folder whose name is not UTF-8.
                self._no_seal_before = time.monotonic() + _RETRY_SEAL_S
                return False
            old = self._rows
            if self._use_sealed():
                old.close()
                self.generation += 1
            return self.sealed

    def seal_own(self) -> bool:
        """As `seal`, of a run in the registry; nothing is written into a folder elsewhere."""
        return registry.holds(self.path) and self.seal()

    def close(self) -> None:
        """Release files and memory; the store is of no use then."""
        with self._lock:
            self._rows.close()
            self._samples.close()
            self._database.close()

    # -- rows --------------------------------------------------------------------------------------

    def processes(self) -> list[Process]:
        """Recorded processes in the order of their starts."""
        return self._cached("processes", self.generation, self._rows.processes)

    def locations(self) -> dict[int, Location]:
        """Source locations by id."""
        return self._cached("locations", self._rows.definitions, self._rows.locations)

    def keys(self, kind: str | None = None) -> list[Key]:
        """Keys by id, with their executions in the whole run so far (None: nothing could observe them)."""
        keys = self._cached("keys", self.generation, self._rows.keys)
        return keys if kind is None else [key for key in keys if key.kind == kind]

    def graphs(self) -> list[Graph]:
        """Placed graphs by id, with their calls so far."""
        return list(self._graphs().values())

    def nodes(self, graph: int | None = None) -> list[Node]:
        """Ops of one placed graph, or of all."""
        return self._of_graphs("nodes", graph)

    def edges(self, graph: int | None = None) -> list[Edge]:
        """Edges of one placed graph, or of all."""
        return self._of_graphs("edges", graph)

    def unseen(self) -> list[Unseen]:
        """What was not kept and what could not be seen, most often first."""

        def rows() -> list[Unseen]:
            ended = self.ended()
            return self._rows.unseen(True) if self.sealed else self._unsealed_unseen(ended)

        # Whether a record is torn or just under way is known only at the end.
        return rows() if not self.sealed else self._cached("unseen", self.generation, rows)

    def totals(self) -> Mapping[int, KeyTotals]:
        """Sums over the events of each key that has events: duration, values, first and last."""
        return self._totals.by_key

    def paces(self) -> Paces:
        """In which of its first steps each transfer, wait and call happened."""
        return self._cached("paces", self.generation, lambda: self._paces.read(self.keys(), self.totals()))

    def events_of(self, kind: str) -> list[Event]:
        """The events of one kind by time; for kinds that have few of them."""
        columns = "kind, ts_ns, dur_ns, key, count, step, value, thread, process"
        sql = f"SELECT {columns} FROM events WHERE kind = ? ORDER BY ts_ns, key"
        return [Event(*row) for row in self._database.query(sql, (kind,))]

    def first_events(self, kinds: Sequence[str], limit: int) -> list[tuple[int, int]]:
        """(key, duration in ns) of the run's first `limit` events of some kinds, by time."""
        sql = (
            "SELECT key, dur_ns FROM events WHERE kind IN (SELECT unnest(?::VARCHAR[]))"
            " ORDER BY ts_ns, key LIMIT ?"
        )
        return [(key, dur) for key, dur in self._database.query(sql, (list(kinds), limit))]

    def single_events(
        self, kinds: Sequence[str], limit: int, after_ns: int = -1
    ) -> list[tuple[int, int, int]]:
        """(time in ns, key, thread) of executions that stand alone: the first `limit` after some time."""
        sql = (
            "SELECT ts_ns, key, thread FROM events WHERE count = 1 AND ts_ns > ?"
            " AND kind IN (SELECT unnest(?::VARCHAR[])) ORDER BY ts_ns, key LIMIT ?"
        )
        rows = self._database.query(sql, (after_ns, list(kinds), limit))
        return [(ts, key, thread) for ts, key, thread in rows]

    def samples(self) -> SampleTable | None:
        """The samples of the run's devices; None of a run that was never to be sampled."""
        with self._lock:
            if not self.sealed:
                return self._samples.table(self.ended())
            return self._cached("samples", self.generation, self._sealed_samples)

    def sample_times(self, samples: SampleTable) -> Numbers:
        """When each row of these was sampled, in seconds since the run's start as all other times are."""
        processes = self.processes()
        if not processes:
            started = read_json(self.path / STATUS_NAME).get("started")
            return positions(samples, float(started) if isinstance(started, int | float) else None)
        first = processes[0]
        host = read_json(self.path / SPEC_NAME).get("host")
        launched_on = host.get("name") if isinstance(host, dict) else None
        there = launched_on is None or first.header.get("host") in (None, launched_on)
        # Another machine's monotonic clock says nothing here.
        return positions(samples, first.wall_ns / timeline.NS, first.mono_ns / timeline.NS if there else None)

    @property
    def duration_s(self) -> float:
        """Seconds from the first header to the end of the last event so far."""
        return self._totals.end_ns / timeline.NS

    @property
    def events(self) -> int:
        """Number of events so far."""
        return self._totals.events

    # -- questions ---------------------------------------------------------------------------------

    def query(self, sql: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a DuckDB question over events, keys, nodes, edges, graphs, locations.

        Columns: app/store/schemas.py; events have process, key, kind, ts_ns, dur_ns, count, step, value,
        thread. Raises duckdb.Error when the question is wrong.
        """
        self._sync_tables()
        return self._database.query(sql, params)

    def binned(self, bins: int, t0_s: float | None = None, t1_s: float | None = None) -> Overview:
        """Activity of each lane in equal bins, of the whole run or from `t0_s` to `t1_s`."""
        if t0_s is None and t1_s is None:
            return self._cached(f"overview {bins}", self.generation, lambda: self._overview(bins))
        return timeline.overview(self._context(), bins, t0_s, t1_s)

    def window(self, t0_s: float, t1_s: float, limit: int = 2000) -> Window:
        """Events between two times, the longest `limit` of them; times in seconds since the run's start."""
        names: dict[int, dict[int, str]] = {}

        def node_name(graph: int, node: int) -> str | None:
            if graph not in names:
                names[graph] = {row.node: row.name for row in self.nodes(graph)}
            return names[graph].get(node)

        return timeline.window(self._context(), t0_s, t1_s, limit, node_name)

    def memory_series(self, points: int = 1000) -> list[MemorySeries]:
        """Memory over time a device; a device that can't tell has a series without points."""
        return timeline.memory_series(self._context(), points)

    def step_series(self, bins: int = 200) -> timeline.StepSeries | None:
        """Optimizer applications over time and a second; None while there was none."""
        return timeline.step_series(self._context(), bins)

    # -- inside ------------------------------------------------------------------------------------

    def _cached(self, name: str, stamp: Any, make: Callable[[], _Value]) -> _Value:
        known: tuple[Any, _Value] | None = self._cache.get(name)
        if known is not None and known[0] == stamp:
            return known[1]
        with self._lock:
            value = make()
            self._cache[name] = (stamp, value)
            return value

    def _overview(self, bins: int) -> Overview:
        kept = self._rows.overview(bins) if isinstance(self._rows, SealedRun) else None
        return kept or timeline.overview(self._context(), bins, None, None)

    def _sealed_samples(self) -> SampleTable | None:
        kept = read_samples(self.path, f"{sealing.FOLDER}/{PARQUET_NAME}")
        if kept is None:
            self._samples.refresh()
            kept = self._samples.table(True)
        return kept

    def _graphs(self) -> dict[int, Graph]:
        return self._cached("graphs", self.generation, lambda: self._rows.graphs(self.keys()))

    def _of_graphs(self, what: str, graph: int | None) -> list[Any]:
        if graph is None:
            return [row for number in self._rows.graph_ids() for row in self._of_graphs(what, number)]
        with self._lock:
            known = self._graph_rows.get((what, graph))
            if known is None:
                known = self._rows.nodes(graph) if what == "nodes" else self._rows.edges(graph)
                self._graph_rows[(what, graph)] = known
            return known

    def _unsealed_unseen(self, ended: bool) -> list[Unseen]:
        return losses(self.path, self._samples.lost(ended)) + self._rows.unseen(ended)

    def _context(self) -> timeline.Context:
        with self._lock:
            keys = self.keys()
            graphs = self._graphs()
            if self._lanes_at != (self.sealed, self._rows.definitions):
                self._lanes.add(keys, graphs, process_names(self.processes()))
                self._database.put("key_lanes", schemas.lanes_table(self._lanes.numbers()))
                self._lanes_at = (self.sealed, self._rows.definitions)
            return timeline.Context(
                self._database,
                self._lanes.lanes,
                self._lanes.of_key,
                self._cached("key_by_id", self.generation, lambda: {key.id: key for key in keys}),
                graphs,
                self.locations(),
                self._totals.end_ns,
            )

    def _small_tables(self) -> dict[str, pa.Table]:
        return {
            "keys": schemas.keys_table(self.keys(), self._totals.by_key),
            "graphs": schemas.rows_table(schemas.GRAPHS, self.graphs()),
            "locations": schemas.rows_table(schemas.LOCATIONS, self.locations().values()),
            "nodes": schemas.rows_table(schemas.NODES, self.nodes()),
            "edges": schemas.rows_table(schemas.EDGES, self.edges()),
        }

    def _sync_tables(self) -> None:
        with self._lock:
            if self._synced != self.generation:
                for name, table in self._small_tables().items():
                    self._database.put(name, table)
                self._synced = self.generation

    def _write(self) -> None:
        small = self._small_tables()
        small["processes"] = schemas.processes_table(self.processes())
        small["overview"] = overview_table(timeline.overview(self._context(), BINS, None, None))
        small["unseen"] = schemas.rows_table(schemas.UNSEEN, self._unsealed_unseen(True))
        if (samples := self._samples.table(True)) is not None:
            small[PARQUET_NAME.removesuffix(".parquet")] = samples_table(samples)
        facts = {"events": self._totals.events, "end_ns": self._totals.end_ns}
        sealing.write_seal(self.path, self._database, small, facts)

    def _use_sealed(self) -> bool:
        manifest = sealing.read_manifest(self.path)
        if manifest is None:
            return False
        if str(self.path.absolute()) != encodable(str(self.path.absolute())):
            # DuckDB opens no such path, and the trace beside the tables may be gone.
            raise HopscopeError(f"the name of {printable(self.path)} is not UTF-8; rename it to open it")
        tables = self.path / sealing.FOLDER
        try:
            rows = SealedRun(self.path, self._database)
            self._database.use_files(tables / sealing.SHORT, tables / sealing.LONG)
        except (OSError, ValueError, LookupError, TypeError, pa.ArrowException, duckdb.Error):
            return False
        self._rows = rows
        self._totals = EventTotals()
        for key, sums in rows.totals.items():
            self._totals.add_totals(key, sums)
        self._cache.clear()
        self._graph_rows.clear()
        self.sealed = True
        return True
