"""What the events of each key add up to, kept while they are read so that no question scans them again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import pyarrow as pa

from probes.trace.recording import LOST, SAMPLED
from probes.trace.rows import Key

_SAMPLED_KINDS = ("hop", "sync", "collective")
"""Those of syncs that are split have another value: what was copying of the time."""


@dataclasses.dataclass
class KeyTotals:
    """Sums over one key's events."""

    events: int = 0
    executions: int = 0
    """Sum of the events' counts."""
    dur_ns: int = 0
    timed: int = 0
    """Executions among them that have a duration; the others were only counted."""
    max_value: int | None = None
    first_ns: int = 0
    end_ns: int = 0
    """Latest end of an event."""
    value_sum: int | None = None
    """Sum of the events' values; None when none has one."""


class EventTotals:
    """Totals of all keys, fed with tables of events that have the run's ids and times."""

    def __init__(self) -> None:
        self.by_key: dict[int, KeyTotals] = {}
        self.end_ns = 0
        self.events = 0

    def add(self, table: pa.Table) -> None:
        """Count a table with the columns key, ts_ns, end_ns, dur_ns, count, timed, value."""
        grouped = table.group_by("key", use_threads=False).aggregate(
            [
                ("count", "sum"),
                ("count", "count"),
                ("dur_ns", "sum"),
                ("timed", "sum"),
                ("value", "max"),
                ("ts_ns", "min"),
                ("end_ns", "max"),
                ("value", "sum"),
            ]
        )
        columns = (
            "key",
            "count_count",
            "count_sum",
            "dur_ns_sum",
            "timed_sum",
            "value_max",
            "ts_ns_min",
            "end_ns_max",
            "value_sum",
        )
        rows = zip(*(grouped.column(name).to_pylist() for name in columns), strict=True)
        for key, *sums in rows:
            self.add_totals(key, KeyTotals(*sums))

    def add_totals(self, key: int, more: KeyTotals) -> None:
        """Count what was added up elsewhere."""
        self.events += more.events
        if more.events:
            self.end_ns = max(self.end_ns, more.end_ns)
        old = self.by_key.get(key)
        if old is None:
            self.by_key[key] = more
            return
        old.first_ns = min(old.first_ns, more.first_ns)
        old.end_ns = max(old.end_ns, more.end_ns)
        old.events += more.events
        old.executions += more.executions
        old.dur_ns += more.dur_ns
        old.timed += more.timed
        if more.max_value is not None:
            old.max_value = more.max_value if old.max_value is None else max(old.max_value, more.max_value)
        if more.value_sum is not None:
            old.value_sum = more.value_sum + (old.value_sum or 0)


def calls_by_graph(counts: Mapping[int, int], keys: Iterable[Key]) -> dict[int, int]:
    """Executions of each graph: of all the lines that call it, together."""
    calls: dict[int, int] = {}
    for key in keys:
        graph = key.fields.get("graph") or 0
        if key.kind == "call" and graph:
            calls[graph] = calls.get(graph, 0) + counts.get(key.id, 0)
    return calls


def total_count(key: Key, counted: int, calls: Mapping[int, int], sums: KeyTotals | None) -> int | None:
    """Executions of a key in the whole run, None when nothing could observe them all.

    `counted` is what the recorder counted for the key itself. Transfers and collectives of a graph that
    happen a fixed number of times a call follow from its calls instead; those in loops and branches count
    only where each was observed: then there are events, and none of them says that some were lost.
    """
    if key.kind not in ("hop", "collective") or not key.fields.get("graph"):
        return counted
    per_call = key.fields.get("per_call")
    if per_call is not None:
        return int(calls.get(key.fields["graph"], 0) * per_call)
    if sums is None or sums.max_value == LOST:
        return None
    return counted


def is_sampled(key: Key, sums: KeyTotals | None, between_windows: bool) -> bool:
    """Return True if some executions in `total_count` were not observed but follow from others.

    `between_windows`: some steps were not recorded in full. Then of what happens outside of graphs only the
    first time is sure to have been seen.
    """
    fields = key.fields
    by_calls = fields.get("graph") and fields.get("per_call") is not None
    if key.kind not in _SAMPLED_KINDS or by_calls or fields.get("split"):
        return False
    missed = between_windows and not fields.get("graph") and (key.count or 0) > 1
    return missed or (sums is not None and sums.max_value == SAMPLED)
