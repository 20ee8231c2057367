"""What could not be seen: as findings, and where it is much of the run."""

from __future__ import annotations

import dataclasses
from collections import Counter

from app.diagnosis.registry import SEVERITY, advice
from app.facts.dialects import DIALECTS
from app.facts.placement import BOUNDARY
from app.facts.tables import Tables
from app.facts.unseen_rows import by_xla, inside
from app.judgments.evidence import UnseenEvidence
from app.judgments.finding import Finding
from app.judgments.severity import INFO
from app.store.losses import OUTPUT, SAMPLES
from app.views import units
from app.views.naming import some_of
from probes.trace.rows import DROPPED, Unseen


def of_unseen(row: Unseen, clusters: bool) -> Finding:
    """`clusters`: what XLA compiled is told by findings of its own."""
    code = "xla-opaque" if by_xla(row) else "unknown"
    often = _often(row)
    summary = f"Not seen: {row.what}{often and f' ({often})'}: {row.why}."
    found = _finding(row, code, summary)
    severity = found.severity if clusters else SEVERITY[code]
    return dataclasses.replace(found, severity=severity, fix=advice(code, found.evidence), unseen=True)


def _finding(row: Unseen, code: str, summary: str) -> Finding:
    evidence = UnseenEvidence(what=row.what, count=row.count, why=row.why)
    return Finding(code, INFO, None, summary, evidence, None, ())


def _often(row: Unseen) -> str:
    """What a row counts: of functions' insides each op, in each call or once."""
    if row.what in (OUTPUT, SAMPLES):
        return units.size(row.count) if row.what == OUTPUT else units.count(row.count)
    if not inside(row):
        return units.times(row.count) if row.count > 1 else ""
    return (
        units.plural(row.count, "op")
        if "once a trace" in row.why
        else units.plural(row.count, "execution of an op", "executions of ops")
    )


def of_runtime(row: Unseen) -> Finding:
    """Graphs that no function of the program has: there is nothing in them to look for."""
    summary = (
        f"{units.plural(row.count, 'graph')} that the runtime made by itself, of no function of the program."
    )
    return _finding(row, "unknown", summary)


_PART = 0.1
"""Of the ops, or of the calls, that the run executed: from there on it is a considerable part of it."""
_BY_CALL = tuple(what for dialect in DIALECTS for what in dialect.counted_by_calls)


def hidden(tables: Tables) -> str:
    """``ops inside train_step``, where a considerable part of the run was in there; '' for nothing like that.

    A trace that could not grow may lack anything. What XLA compiled is no such thing: it runs on one device,
    and has findings of its own.
    """
    cut = [row.what for row in tables.unseen if row.what == DROPPED]
    rows = [row for row in tables.unseen if (inside(row) or row.what in _BY_CALL) and not by_xla(row)]
    if not rows:
        return some_of(cut, "")
    ops: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for row in rows:
        _count(row, tables, ops, calls)
    seen = sum(key.count or 0 for key in tables.eager_ops)
    called = 0
    for graph in tables.own_graphs:
        nodes = sum(node.op not in BOUNDARY for node in tables.nodes_of(graph.id))
        seen += graph.calls * nodes
        called += graph.calls * bool(nodes)
    found = cut + [what for what in ops if ops[what] >= _PART * (seen + ops.total())]
    found += [what for what in calls if calls[what] >= _PART * (called + calls.total())]
    return some_of(found, "functions' ops")


def _count(row: Unseen, tables: Tables, ops: Counter[str], calls: Counter[str]) -> None:
    """What a row counts: of functions' insides each op, in each call or once a trace; else the calls."""
    what, _, caller = row.what.partition(", called in ")
    if row.what in _BY_CALL or "before the recorder" in row.why:
        calls[what] += row.count
    elif "once a trace" in row.why:
        traced = sum(graph.calls for graph in tables.own_graphs if graph.name == caller)
        ops[what] += row.count * max(1, traced)
    else:
        ops[what] += row.count
