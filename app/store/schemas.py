"""The small tables of a run: rows <-> Arrow, for questions in SQL and for the sealed files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa

from app.store.columns import arrow_type, columns, fields_by_name
from app.store.field_types import check_fields, mapping
from app.store.totals import KeyTotals
from probes.trace.rows import Edge, Graph, Key, Location, Node, Process, Unseen
from probes.trace.schema import KINDS

NODES, EDGES, GRAPHS, LOCATIONS, UNSEEN = (
    pa.schema(columns(row)) for row in (Node, Edge, Graph, Location, Unseen)
)
PROCESSES = pa.schema([("index", pa.int64()), ("name", pa.string()), ("json", pa.string())])
_PLAIN = ("op", "device", "src", "dst", "bytes", "graph", "per_call", "loc")
"""Fields of keys that have columns of their own, for questions in SQL."""
_TYPES = fields_by_name(KINDS)
KEYS = pa.schema(
    [
        ("id", pa.int64()),
        ("kind", pa.string()),
        ("process", pa.int64()),
        ("count", pa.int64()),
        *((name, arrow_type(_TYPES[name])) for name in _PLAIN),
        ("fields", pa.string()),
        *columns(KeyTotals),
    ]
)
"""`count`: executions in the run, null when unknown; from `events` on: sums over the key's events."""
LANES = pa.schema([("key", pa.int64()), ("lane", pa.int64())])


def rows_table(schema: pa.Schema, rows: Iterable[Any]) -> pa.Table:
    """Dataclass rows whose fields are the schema's columns."""
    return _table(schema, rows, lambda row: [getattr(row, name) for name in schema.names])


def keys_table(keys: Iterable[Key], totals: Mapping[int, KeyTotals]) -> pa.Table:
    """Keys with the sums of their events."""
    none = KeyTotals()

    def columns(key: Key) -> list[Any]:
        fields, sums = key.fields, totals.get(key.id, none)
        plain = [fields.get(name) for name in _PLAIN]
        return [
            key.id,
            key.kind,
            key.id >> 32,
            key.count,
            *plain,
            json.dumps(fields, separators=(",", ":")),
            *dataclasses.astuple(sums),
        ]

    return _table(KEYS, keys, columns)


def processes_table(processes: Iterable[Process]) -> pa.Table:
    """Processes; all but index and name as JSON."""
    return _table(
        PROCESSES, processes, lambda row: [row.index, row.name, json.dumps(dataclasses.asdict(row))]
    )


def lanes_table(lane_of_key: Mapping[int, int]) -> pa.Table:
    """Keys that are drawn on the timeline, with their lane's number."""
    return _table(LANES, lane_of_key.items(), list)


def keys_from(table: pa.Table) -> tuple[list[Key], dict[int, KeyTotals]]:
    """What `keys_table` was made from; ValueError where that cannot be."""
    keys, totals = [], {}
    for row in table.to_pylist():
        fields = mapping(json.loads(row["fields"]))
        check_fields(row["kind"], fields)
        keys.append(Key(row["id"], row["kind"], fields, row["count"]))
        if row["events"]:
            # A sum that older tables do not have keeps its default.
            sums = {
                field.name: row[field.name] for field in dataclasses.fields(KeyTotals) if field.name in row
            }
            totals[row["id"]] = KeyTotals(**sums)
    return keys, totals


def processes_from(table: pa.Table) -> list[Process]:
    """What `processes_table` was made from."""
    return [Process(**json.loads(text)) for text in table.column("json").to_pylist()]


def locations_from(table: pa.Table) -> dict[int, Location]:
    """Locations by id."""
    return {row["id"]: Location(**row) for row in table.to_pylist()}


def graphs_from(table: pa.Table) -> dict[int, Graph]:
    """Graphs by id."""
    return {row["id"]: Graph(**row) for row in table.to_pylist()}


def unseen_from(table: pa.Table) -> list[Unseen]:
    """Rows of what could not be seen."""
    return [Unseen(**row) for row in table.to_pylist()]


def nodes_from(rows: Iterable[tuple[Any, ...]]) -> list[Node]:
    """Nodes from rows in the order of `NODES`."""
    return [Node(*row) for row in rows]


def edges_from(rows: Iterable[tuple[Any, ...]]) -> list[Edge]:
    """Edges from rows in the order of `EDGES`."""
    return [Edge(*row) for row in rows]


def _table(schema: pa.Schema, rows: Iterable[Any], columns: Callable[[Any], list[Any]]) -> pa.Table:
    values = [columns(row) for row in rows]
    arrays = [pa.array([row[number] for row in values], field.type) for number, field in enumerate(schema)]
    return pa.table(arrays, schema=schema)
