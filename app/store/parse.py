"""Lines of a trace -> rows, tolerantly: what can't be read is counted with its reason, never raised."""

from __future__ import annotations

import collections
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from app.store.columns import columns, limits, nullable
from app.store.field_types import check_fields, identifier, integer, mapping, text
from app.store.headers import header_fields
from probes.trace import schema
from probes.trace.rows import VERSION, Edge, Graph, Location, Node
from runners.printable import printable
from runners.runs.run_fields import plain

EVENT_SCHEMA = pa.schema(columns(schema.Event))
EVENT_PREFIX = b'["e",'
EVENT_KINDS = frozenset(schema.KINDS)
_LIMITS = limits(schema.Event)
_NULLABLE = nullable(schema.Event)
_LENGTHS = {tag: schema.length(tag) for tag in schema.RECORDS}
SOURCE_NOTES = "source_notes"
UNREADABLE = ("trace lines", "not readable as a record")
Reasons = collections.Counter[tuple[str, str]]


class ProcessTrace:
    """All that one process's trace has said so far, events apart; ids are the process's own."""

    def __init__(self) -> None:
        self.header: dict[str, Any] | None = None
        self.strings: dict[int, str] = {}
        self.locations: dict[int, Location] = {}
        self.graphs: dict[int, Graph] = {}
        self.nodes: dict[int, dict[int, Node]] = {}
        self.edges: dict[int, list[Edge]] = {}
        self.keys: dict[int, schema.Key] = {}
        self.unseen: Reasons = collections.Counter()
        self.definitions = 0
        """Grows with every record that is not an event."""
        self._orphan_keys: collections.Counter[int] = collections.Counter()
        self._handlers: dict[str, Callable[[list[Any]], None]] = {
            "H": self._header,
            "I": self._facts,
            "S": self._string,
            "L": self._location,
            "K": self._key,
            "G": self._graph,
            "N": self._node,
            "E": self._edge,
            "U": self._unseen,
        }

    def feed(self, data: bytes) -> pa.Table | None:
        """Take whole lines; returns the events among them (EVENT_SCHEMA), None when there are none."""
        lines = data.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        events = [line for line in lines if line[:5] == EVENT_PREFIX]
        if len(events) < len(lines):
            for line in lines:
                if line[:5] != EVENT_PREFIX:
                    stray = self._line(line)
                    if stray is not None:
                        events.append(stray)
        if not events:
            return None
        table = self._fast_events(events)
        if table is None:
            table = self._slow_events(events)
        if table.num_rows:
            self._note_orphans(table)
        return table if table.num_rows else None

    def missing_keys(self) -> int:
        """Events that belong to a key that never was defined."""
        for key in [key for key in self._orphan_keys if key in self.keys]:
            del self._orphan_keys[key]
        return sum(self._orphan_keys.values())

    def _note_orphans(self, table: pa.Table) -> None:
        distinct = set(table.column("key").unique().to_pylist())
        unknown = distinct - self.keys.keys()
        if unknown:
            keys = table.column("key").to_pylist()
            self._orphan_keys.update(key for key in keys if key in unknown)

    def _fast_events(self, lines: list[bytes]) -> pa.Table | None:
        """All lines at once as comma-separated values; None when one of them needs the slow way."""
        rows = b"\n".join(lines) + b"\n"
        if rows.count(b"]\n") != len(lines) or b", " in rows or b"\\" in rows:
            return None
        rows = rows.replace(EVENT_PREFIX, b"").replace(b"]\n", b"\n")
        try:
            table = csv.read_csv(
                io.BytesIO(rows),
                read_options=csv.ReadOptions(column_names=EVENT_SCHEMA.names, use_threads=False),
                convert_options=csv.ConvertOptions(
                    column_types=EVENT_SCHEMA, null_values=["null"], strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid:
            return None
        if any(table.column(name).null_count for name in _LIMITS if name not in _NULLABLE):
            return None
        if not set(table.column("kind").unique().to_pylist()) <= EVENT_KINDS:
            return None
        return table if all(_within(table.column(name), limit) for name, limit in _LIMITS.items()) else None

    def _slow_events(self, lines: list[bytes]) -> pa.Table:
        rows: list[tuple[Any, ...]] = []
        for line in lines:
            try:
                row = json.loads(line)
                _, kind, *numbers = row
                if len(numbers) < len(_LIMITS) or not isinstance(kind, str):
                    raise ValueError
                if len(numbers) > len(_LIMITS):
                    self._extra("e", len(numbers) - len(_LIMITS))
                    numbers = numbers[: len(_LIMITS)]
                for (name, limit), number in zip(_LIMITS.items(), numbers, strict=True):
                    if number is None and name in _NULLABLE:
                        continue
                    if type(number) is not int or not -limit <= number < limit:
                        raise ValueError
            except (ValueError, RecursionError):
                self._bad()
                continue
            if kind not in EVENT_KINDS:
                self.unseen[(f"events of kind {_shown(kind)}", "written by a newer recorder")] += 1
                continue
            rows.append((kind, *numbers))
        columns = list(zip(*rows, strict=True)) or [()] * len(EVENT_SCHEMA.names)
        return pa.table(
            [pa.array(column, field.type) for column, field in zip(columns, EVENT_SCHEMA, strict=True)],
            schema=EVENT_SCHEMA,
        )

    def _line(self, line: bytes) -> bytes | None:
        """Take one line that is no event; gives it back when it is one after all, written otherwise."""
        try:
            row = json.loads(line)
            tag = row[0]
            if not isinstance(row, list) or not isinstance(tag, str):
                raise ValueError
        except (ValueError, LookupError, TypeError, RecursionError):
            self._bad()
            return None
        if tag == "e":
            return line
        handler = self._handlers.get(tag)
        if handler is None:
            self.unseen[(f"trace records of kind {_shown(tag)}", "written by a newer recorder")] += 1
            return None
        length = _LENGTHS[tag]
        if len(row) > length:
            self._extra(tag, len(row) - length)
            del row[length:]
        try:
            handler(row)
        except (ValueError, LookupError, TypeError):
            self._bad()
            return None
        self.definitions += 1
        return None

    def _bad(self) -> None:
        self.unseen[UNREADABLE] += 1

    def _extra(self, tag: str, count: int) -> None:
        self.unseen[(f"fields of {tag} records", "written by a newer recorder")] += count

    def _header(self, row: list[Any]) -> None:
        header = mapping(row[-1])
        version = row[1] if len(row) > 2 else header.get("version")
        if version != VERSION:
            why = f"this Hopscope reads version {VERSION}"
            self.unseen[(f"trace version {_shown(str(version))}", why)] += 1
        integer(header["mono_ns"])
        integer(header["wall_ns"])
        # Facts may have come before the header when a process was forked mid-way.
        self.header = {**self._checked(header), **(self.header or {})}

    def _facts(self, row: list[Any]) -> None:
        known, facts = self.header or {}, self._checked(mapping(row[2]))
        if SOURCE_NOTES in known and SOURCE_NOTES in facts:
            # Each names files of its own.
            facts[SOURCE_NOTES] = {**known[SOURCE_NOTES], **facts[SOURCE_NOTES]}
        self.header = {**known, **facts}

    def _checked(self, header: dict[str, Any]) -> dict[str, Any]:
        fields, wrong = header_fields(header)
        for name in wrong:
            self.unseen[(f"the header's {name}", "not what such a field holds")] += 1
        return fields

    def _string(self, row: list[Any]) -> None:
        self.strings[identifier(row[1])] = text(row[2])

    def _location(self, row: list[Any]) -> None:
        loc = identifier(row[1])
        site = self._string_of(row[2]) or "?"
        via = self._string_of(row[3]) or None
        self.locations[loc] = Location(
            loc, site, via, self._string_of(row[4]), integer(row[5]), self._string_of(row[6])
        )

    def _key(self, row: list[Any]) -> None:
        key, kind = identifier(row[1]), text(row[2])
        fields, odd = plain(mapping(row[3]))
        if odd:
            self.unseen[("values of K records", odd)] += 1
        check_fields(kind, fields)
        if kind not in EVENT_KINDS:
            self.unseen[(f"keys of kind {_shown(kind)}", "written by a newer recorder")] += 1
            return
        self.keys[key] = schema.Key(key, kind, fields)

    def _graph(self, row: list[Any]) -> None:
        graph, fields = identifier(row[1]), mapping(row[2])
        partial = fields.get("partial")
        self.graphs[graph] = Graph(
            graph,
            text(fields.get("name") or ""),
            text(fields.get("function") or ""),
            integer(fields.get("loc") or 0),
            integer(fields.get("step_marks") or 0),
            None if partial is None else text(partial),
        )

    def _node(self, row: list[Any]) -> None:
        graph, node = identifier(row[1]), integer(row[2])
        texts = [self._string_of(part) for part in row[3:7]]
        self.nodes.setdefault(graph, {})[node] = Node(
            graph, node, texts[0], texts[1], texts[2], texts[3], integer(row[7] or 0), integer(row[8] or 0)
        )

    def _edge(self, row: list[Any]) -> None:
        graph = identifier(row[1])
        src, src_slot, dst, dst_slot = (integer(part) for part in row[2:6])
        size = None if row[6] is None else integer(row[6])
        edge = Edge(
            graph, src, src_slot, dst, dst_slot, size, self._string_of(row[7]), self._string_of(row[8])
        )
        self.edges.setdefault(graph, []).append(edge)

    def _unseen(self, row: list[Any]) -> None:
        self.unseen[(text(row[1]), text(row[3]))] += integer(row[2])

    def _string_of(self, number: Any) -> str:
        number = integer(number or 0)
        return self.strings.get(number, "?") if number else ""


def _within(column: pa.ChunkedArray, limit: int) -> bool:
    ends = pc.min_max(column).as_py()
    return ends["min"] is None or -limit <= ends["min"] <= ends["max"] < limit


def _shown(name: str) -> str:
    return repr(printable(name if len(name) <= 40 else name[:40] + ".."))
