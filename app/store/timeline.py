"""What happened when: binned activity of lanes, the bars of a window, memory and steps over time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from app.store.courses import first_step_end
from app.store.database import LONG_NS, Database
from app.store.lanes import UNITS, bar_label, lane_order
from app.views.memory_data import MemorySeries
from app.views.timeline_data import Bar, Binned, Lane, Overview, Phase, Window
from probes.trace.rows import Graph, Key, Location

NS = 1_000_000_000
_LAST_S = 2.0**31
"""No run is longer than 68 years; an address may ask for any time."""
_EVENTS_IN = (
    "(SELECT key, ts_ns, dur_ns, count, step, value FROM events_short"
    " WHERE ts_ns < $t1 AND ts_ns >= $t0 - $long AND ts_ns + dur_ns >= $t0"
    " UNION ALL SELECT key, ts_ns, dur_ns, count, step, value FROM events_long"
    " WHERE ts_ns < $t1 AND ts_ns + dur_ns >= $t0)"
)
"""Events that touch [$t0, $t1): short ones can't reach further than $long, so older rows are skipped."""

_Array = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class StepSeries:
    """Optimizer applications over time."""

    t_s: tuple[float, ...]
    """Seconds since the run's start, end of each bin."""
    steps: tuple[int, ...]
    """Applications finished by then, over all processes the most."""
    rate: tuple[float, ...]
    """Applications a second within the bin."""


@dataclasses.dataclass(frozen=True)
class Context:
    """What the questions need beside the events."""

    database: Database
    lanes: Sequence[Lane]
    """By the lane numbers in the table key_lanes."""
    lane_of_key: Mapping[int, Lane]
    keys: Mapping[int, Key]
    graphs: Mapping[int, Graph]
    locations: Mapping[int, Location]
    end_ns: int


def overview(context: Context, bins: int, t0_s: float | None, t1_s: float | None) -> Overview:
    """Activity of every lane in `bins` equal bins; the whole run where no times are given.

    Calls, syncs and sampled ops: busy fraction; eager ops: executions; transfers and collectives: number,
    those inside a graph counted where its call starts, because when exactly is not known.
    """
    t0, width, bins = _grid(context, bins, t0_s, t1_s)
    t1 = t0 + width * bins
    values: dict[int, _Array] = {}
    sql = f"""
        SELECT lane, b0, b1, sum(started)::DOUBLE AS started,
               sum(CASE WHEN b1 > b0 THEN (b0 + 1) * $w - a ELSE b - a END)::DOUBLE AS first,
               sum(CASE WHEN b1 > b0 THEN b - b1 * $w ELSE 0 END)::DOUBLE AS last, count(*) AS number
        FROM (SELECT lane, a, b, started, a // $w AS b0, least(b // $w, $n - 1) AS b1
              FROM (SELECT k.lane, greatest(e.ts_ns - $t0, 0) AS a, least(e.ts_ns + e.dur_ns, $t1) - $t0 AS b,
                           CASE WHEN e.ts_ns >= $t0 THEN e.count ELSE 0 END AS started
                    FROM {_EVENTS_IN} e JOIN key_lanes k ON e.key = k.key))
        GROUP BY lane, b0, b1"""
    parameters = {"t0": t0, "t1": t1, "w": width, "n": bins, "long": LONG_NS}
    rows = context.database.arrays(sql, parameters)
    for lane in np.unique(rows["lane"]):
        if lane < len(context.lanes):  # no later definition than the context's
            part = {name: column[rows["lane"] == lane] for name, column in rows.items()}
            busy = UNITS[context.lanes[lane].kind] == "busy"
            values[int(lane)] = _busy(part, bins, width) if busy else _started(part, bins)
    _add_graph_transfers(context, parameters, values, bins)
    drawn = tuple(_binned(context.lanes[number], row) for number, row in sorted(values.items()) if row.any())
    return Overview(t0 / NS, t1 / NS, drawn, _phases(context))


def _started(rows: Mapping[str, npt.NDArray[np.int64]], bins: int) -> _Array:
    result: _Array = np.bincount(rows["b0"], weights=rows["started"], minlength=bins).astype(np.float64)
    return result


def _busy(rows: Mapping[str, npt.NDArray[np.int64]], bins: int, width: int) -> _Array:
    """Share of each bin: the ends that lie in it, and the bins that events cover whole."""
    first = np.bincount(rows["b0"], weights=rows["first"], minlength=bins)
    last = np.bincount(rows["b1"], weights=rows["last"], minlength=bins)
    wide = rows["b1"] > rows["b0"]
    begins = np.bincount(rows["b0"][wide] + 1, weights=rows["number"][wide], minlength=bins + 1)
    ends = np.bincount(rows["b1"][wide], weights=rows["number"][wide], minlength=bins + 1)
    result: _Array = (first + last) / width + np.cumsum(begins - ends)[:bins]
    return result


def _binned(lane: Lane, row: _Array) -> Binned:
    unit = UNITS[lane.kind]
    # Threads that run at the same time add up to more than the bin has.
    shown = np.minimum(row, 1.0) if unit == "busy" else row
    return Binned(lane, tuple(shown.tolist()), unit)


def _grid(context: Context, bins: int, t0_s: float | None, t1_s: float | None) -> tuple[int, int, int]:
    t0 = 0 if t0_s is None else _ns(t0_s)
    t1 = max(context.end_ns, 1) if t1_s is None else _ns(t1_s)
    bins = max(1, bins)
    width = max(1, -(-(t1 - t0) // bins))
    return t0, width, bins


def _ns(seconds: float) -> int:
    return int(min(max(seconds, -_LAST_S), _LAST_S) * NS)


def _add_graph_transfers(
    context: Context, parameters: dict[str, int], values: dict[int, _Array], bins: int
) -> None:
    """Transfers that happen a fixed number of times a call are not events of their own."""
    number_of = {lane.id: number for number, lane in enumerate(context.lanes)}
    per_graph: dict[int, dict[int, int]] = {}
    for key in context.keys.values():
        graph, per_call = key.fields.get("graph") or 0, key.fields.get("per_call")
        lane = context.lane_of_key.get(key.id)
        if key.kind in ("hop", "collective") and graph and per_call and lane is not None:
            lanes = per_graph.setdefault(graph, {})
            number = number_of[lane.id]
            lanes[number] = lanes.get(number, 0) + per_call
    callers = {
        key.id: key.fields["graph"]
        for key in context.keys.values()
        if key.kind == "call" and key.fields.get("graph") in per_graph
    }
    if not callers:
        return
    sql = f"""
        SELECT e.key, least((e.ts_ns - $t0) // $w, $n - 1) AS b, sum(e.count)::DOUBLE
        FROM {_EVENTS_IN} e JOIN (SELECT unnest($keys::BIGINT[]) AS key) k ON e.key = k.key
        WHERE e.ts_ns >= $t0 GROUP BY e.key, b"""
    for key, at, calls in context.database.ask(sql, {**parameters, "keys": list(callers)}):
        for number, per_call in per_graph[callers[key]].items():
            values.setdefault(number, np.zeros(bins))[at] += calls * per_call


def _phases(context: Context) -> tuple[Phase, ...]:
    """Start-up, first step, training: by the first call or op and the first step's last optimizer."""
    work = _ids(context, lambda key: key.kind in ("call", "op"))
    marks = [key for key in context.keys.values() if key.kind == "mark" and key.fields.get("name") == "step"]
    if not work or not marks:
        return ()
    sql = (
        "SELECT min(e.ts_ns) FROM (SELECT key, ts_ns FROM events_short UNION ALL SELECT key, ts_ns FROM"
        " events_long) e WHERE e.key IN (SELECT unnest($keys::BIGINT[]))"
    )
    (first,) = context.database.ask(sql, {"keys": work})[0]
    step = first_step_end(context.database, marks)
    if first is None or step is None or step < first:
        return ()
    return (
        Phase("start-up", 0.0, first / NS),
        Phase("first step", first / NS, step / NS),
        Phase("training", step / NS, context.end_ns / NS),
    )


def _ids(context: Context, wanted: Callable[[Key], bool]) -> list[int]:
    return [key.id for key in context.keys.values() if wanted(key)]


def window(
    context: Context, t0_s: float, t1_s: float, limit: int, node_name: Callable[[int, int], str | None]
) -> Window:
    """The bars between two times, the `limit` longest where there are more; `node_name(graph, node)`."""
    t0 = _ns(t0_s)
    t1 = max(_ns(t1_s), t0 + 1)
    parameters: dict[str, object] = {"t0": t0, "t1": t1, "long": LONG_NS, "limit": limit}
    sql = f"""
        SELECT e.key, e.ts_ns, e.dur_ns, e.count, e.step, e.value, count(*) OVER () AS total
        FROM {_EVENTS_IN} e SEMI JOIN key_lanes k ON e.key = k.key
        ORDER BY e.dur_ns DESC, e.ts_ns, e.key LIMIT $limit"""
    rows = context.database.ask(sql, parameters)
    bars = []
    for key_id, ts, dur, count, step, value, _ in rows:
        if key_id not in context.lane_of_key:
            continue  # defined since this question began
        key, lane = context.keys[key_id], context.lane_of_key[key_id]
        fields = key.fields
        name = node_name(fields["graph"], fields["node"]) if key.kind == "node" else None
        location = context.locations.get(fields.get("loc") or 0)
        bars.append(
            Bar(
                lane=lane.id,
                t0_s=ts / NS,
                dur_s=dur / NS,
                label=bar_label(key, name),
                device=lane.device,
                site=location.site if location else None,
                count=count,
                step=step,
                bytes=value if value is not None else fields.get("bytes"),
                basis=fields.get("basis") or "measured",
                key=key_id,
            )
        )
    bars.sort(key=lambda bar: (bar.t0_s, bar.dur_s, bar.key))
    used = {bar.lane for bar in bars}
    lanes = sorted((lane for lane in context.lanes if lane.id in used), key=lane_order)
    return Window(t0 / NS, t1 / NS, tuple(lanes), tuple(bars), rows[0][-1] if rows else 0)


def memory_series(context: Context, points: int) -> list[MemorySeries]:
    """Memory over time a device and kind; at most `points` points, each the highest of its stretch."""
    keys = {key.id: key for key in context.keys.values() if key.kind == "memory"}
    if not keys:
        return []
    width = max(1, context.end_ns // max(1, points))
    sql = """
        SELECT key, (ts_ns // $w) AS b, arg_max(ts_ns, value), max(value)
        FROM events_short WHERE kind = 'memory' AND value IS NOT NULL GROUP BY key, b ORDER BY key, b"""
    found: dict[int, list[tuple[float, int]]] = {key: [] for key in keys}
    for key, _, ts, value in context.database.ask(sql, {"w": width}):
        if key in found:
            found[key].append((ts / NS, value))
    series = []
    for number, rows in found.items():
        fields = keys[number].fields
        series.append(
            MemorySeries(
                device=fields.get("device") or "?",
                what=fields.get("what") or "in_use",
                basis=fields.get("basis") or "unknown",
                why=fields.get("why") or "",
                t_s=tuple(t for t, _ in rows),
                bytes=tuple(value for _, value in rows),
            )
        )
    # What was silent before it had anything to tell is told by the rest.
    told = {(row.device, row.what) for row in series if row.basis != "unsupported"}
    series = [row for row in series if row.basis != "unsupported" or (row.device, row.what) not in told]
    return sorted(series, key=lambda row: (row.device, row.what))


def step_series(context: Context, bins: int) -> StepSeries | None:
    """Optimizer applications over time; None when the program has none so far."""
    marks = _ids(context, lambda key: key.kind == "mark" and key.fields.get("name") == "step")
    if not marks:
        return None
    t0, width, bins = _grid(context, bins, None, None)
    sql = """
        SELECT key, least(ts_ns // $w, $n - 1) AS b, sum(count)::BIGINT FROM events_short
        WHERE kind = 'mark' AND key IN (SELECT unnest($keys::BIGINT[])) GROUP BY key, b"""
    per_key = {key: np.zeros(bins, dtype=np.int64) for key in marks}
    for key, at, count in context.database.ask(sql, {"w": width, "n": bins, "keys": marks}):
        per_key[key][max(0, at)] += count
    # Workers that step together each apply the optimizer once: the furthest one tells the step.
    finished = np.max([np.cumsum(row) for row in per_key.values()], axis=0)
    rate = np.diff(finished, prepend=0) / (width / NS)
    times = (t0 + width * (np.arange(bins) + 1)) / NS
    return StepSeries(tuple(times.tolist()), tuple(finished.tolist()), tuple(rate.tolist()))
