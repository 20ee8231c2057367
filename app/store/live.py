"""A run read from its traces while they grow: all its processes together, their ids made the run's."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from app.store.device_names import qualified, qualify_fields
from app.store.ids import LOW, SHIFT, global_id, globalize_fields
from app.store.refusals import refusals_in
from app.store.totals import EventTotals, calls_by_graph, total_count
from app.store.trace_reader import ENDING, TraceReader, peek_header
from app.store.traced_devices import TRACE_FOLDER
from probes.trace.rows import DROPPED, Edge, Graph, Key, Location, Node, Process, Unseen
from runners.printable import printable
from runners.runs import run_files


class LiveRun:
    """All traces of a run folder; new processes are found while the run goes on.

    Not thread-safe: the store holds its lock around every call.
    """

    def __init__(self, folder: Path, take: Callable[[pa.Table], None], totals: EventTotals) -> None:
        """`take` is handed every table of new events; `totals` already counts them."""
        self.folder = folder
        self.readers: list[TraceReader] = []
        self.definitions = 0
        """Grows when anything but events and counts changed."""
        self._take = take
        self._totals = totals
        self._known: set[str] = set()
        self._first: dict[str, Any] = {}
        self._keys: dict[int, list[Key]] = {}
        self._keys_at: dict[int, tuple[int, str]] = {}

    def refresh(self) -> bool:
        """Read what was appended; true when anything changed."""
        changed = self._discover()
        before = self._stamp()
        for reader in self.readers:
            changed = reader.read(self._add) or changed
        if self._stamp() != before:
            self.definitions += 1
        return changed

    def _stamp(self) -> tuple[int, int]:
        return len(self.readers), sum(reader.trace.definitions for reader in self.readers)

    def _add(self, events: pa.Table) -> None:
        self._totals.add(events)
        self._take(events)

    def _discover(self) -> bool:
        found: list[tuple[int, int, str, dict[str, Any]]] = []
        for name in self._names():
            if name in self._known:
                continue
            if not name.endswith(ENDING):
                self._known.add(name)
                continue
            header = peek_header(self.folder, name)
            if header is not None:
                wall, mono = (_number(header.get(clock)) for clock in ("wall_ns", "mono_ns"))
                found.append((wall, mono, name, header))
        for wall, mono, name, header in sorted(found, key=lambda item: item[:3]):
            self._known.add(name)
            reader = TraceReader(len(self.readers), self.folder, name)
            if self.readers and mono:
                first = self._first
                same_host = first.get("host") == header.get("host")
                clock, now = ("mono_ns", mono) if same_host else ("wall_ns", wall)
                reader.offset_ns = now - _number(first.get(clock))
            elif not self.readers:
                self._first = header
            self.readers.append(reader)
        return bool(found)

    # -- rows --------------------------------------------------------------------------------------

    def processes(self) -> list[Process]:
        """One row a process, in the order of their starts."""
        return [reader.process() for reader in self.readers]

    def locations(self) -> dict[int, Location]:
        """All source locations by the run's id."""
        return {
            global_id(reader.index, own): dataclasses.replace(loc, id=global_id(reader.index, own))
            for reader in self.readers
            for own, loc in reader.trace.locations.items()
        }

    def keys(self) -> list[Key]:
        """All keys with their totals, by id."""
        base = [key for reader in self.readers for key in self._reader_keys(reader)]
        counted = {key.id: self._counted(key) for key in base}
        calls = calls_by_graph(counted, base)
        sums = self._totals.by_key
        return [
            Key(k.id, k.kind, k.fields, total_count(k, counted[k.id], calls, sums.get(k.id))) for k in base
        ]

    def graphs(self, keys: list[Key]) -> dict[int, Graph]:
        """All placed graphs by the run's id, with their calls."""
        calls = calls_by_graph({key.id: key.count or 0 for key in keys}, keys)
        result = {}
        for reader in self.readers:
            for own, graph in reader.trace.graphs.items():
                number = global_id(reader.index, own)
                loc = global_id(reader.index, graph.loc)
                result[number] = dataclasses.replace(graph, id=number, loc=loc, calls=calls.get(number, 0))
        return result

    def nodes(self, graph: int) -> list[Node]:
        """A graph's ops by their number."""
        reader = self._reader_of(graph)
        if reader is None:
            return []
        index, prefix = reader.index, reader.prefix
        device = functools.cache(lambda name: qualified(prefix, name))
        return [
            Node(
                graph,
                row.node,
                row.name,
                row.op,
                device(row.requested),
                device(row.assigned),
                global_id(index, row.loc),
                global_id(index, row.forward_loc),
            )
            for _, row in sorted(reader.trace.nodes.get(graph & LOW, {}).items())
        ]

    def edges(self, graph: int) -> list[Edge]:
        """A graph's edges."""
        reader = self._reader_of(graph)
        if reader is None:
            return []
        rows = reader.trace.edges.get(graph & LOW, [])
        if not reader.index:
            return list(rows)
        return [
            Edge(graph, r.src_node, r.src_slot, r.dst_node, r.dst_slot, r.bytes, r.dtype, r.shape)
            for r in rows
        ]

    def graph_ids(self) -> list[int]:
        """Ids of all graphs that have a definition or nodes."""
        return [
            global_id(reader.index, own)
            for reader in self.readers
            for own in sorted(reader.trace.graphs.keys() | reader.trace.nodes.keys())
        ]

    def unseen(self, ended: bool) -> list[Unseen]:
        """What the recorders and this reader could not see, added up; records dropped first, then by count.

        With `ended`, also what a killed process left half-written.
        """
        total = refusals_in(self.folder)
        for reader in self.readers:
            total.update(reader.trace.unseen)
            missing = reader.trace.missing_keys()
            if missing:
                total[("events of an unknown key", "its definition could not be read")] += missing
            if reader.failure:
                total[(f"trace {reader.name}", f"cannot be read: {reader.failure}")] += 1
            dropped, why = reader.counts.dropped
            total[(DROPPED, why or "the trace could not grow")] += dropped
            if not reader.counts.present and reader.trace.keys:
                total[
                    (
                        f"counts {printable(reader.counts.name.rpartition('/')[2])}",
                        "missing: counts are taken from events",
                    )
                ] += 1
            if not reader.header:
                total[(f"header of {reader.name}", "missing: its times start at 0")] += 1
            with contextlib.suppress(OSError):
                if ended and reader.tail.leftover():
                    total[("a record cut short", "the process was ended while writing it")] += 1
        if ended:
            for name in self._undiscovered():
                total[(f"trace {printable(name)}", "holds no whole record")] += 1
        rows = [Unseen(what, count, why) for (what, why), count in total.items() if count]
        return sorted(rows, key=lambda row: (row.what != DROPPED, -row.count, row.what, row.why))

    def close(self) -> None:
        """Release the files."""
        for reader in self.readers:
            reader.tail.close()

    def _names(self) -> list[str]:
        with contextlib.suppress(OSError):
            return run_files.names(self.folder, TRACE_FOLDER)
        return []

    def _undiscovered(self) -> list[str]:
        return [
            name
            for name in self._names()
            if name not in self._known and name.endswith(ENDING) and self._size(name)
        ]

    def _size(self, name: str) -> int:
        """Bytes of a trace; what is no file cannot be read and counts as one."""
        try:
            return run_files.facts(self.folder, f"{TRACE_FOLDER}/{name}").st_size
        except OSError:
            return 1

    def _reader_of(self, graph: int) -> TraceReader | None:
        index = graph >> SHIFT
        return self.readers[index] if 0 <= index < len(self.readers) else None

    def _counted(self, key: Key) -> int:
        count = self.readers[key.id >> SHIFT].count(key.id & LOW)
        if count is not None:
            return count
        totals = self._totals.by_key.get(key.id)
        return totals.executions if totals else 0

    def _reader_keys(self, reader: TraceReader) -> list[Key]:
        stamp = (reader.trace.definitions, reader.prefix)
        if self._keys_at.get(reader.index) != stamp:
            self._keys[reader.index] = [
                Key(
                    global_id(reader.index, own),
                    key.kind,
                    qualify_fields(reader.prefix, globalize_fields(reader.index, key.fields)),
                    None,
                )
                for own, key in sorted(reader.trace.keys.items())
            ]
            self._keys_at[reader.index] = stamp
        return self._keys[reader.index]


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
