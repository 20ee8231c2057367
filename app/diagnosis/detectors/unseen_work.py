"""What could not be seen, as findings."""

from __future__ import annotations

from app.diagnosis.registry import SEVERITY, advice
from app.facts.unseen_rows import by_xla, inside
from app.judgments.evidence import UnseenEvidence
from app.judgments.finding import Finding
from app.store.losses import OUTPUT, SAMPLES
from app.views import units
from probes.trace.rows import Unseen


def of_unseen(row: Unseen, clusters: bool) -> Finding:
    """`clusters`: what XLA compiled is told by findings of its own."""
    code = "xla-opaque" if by_xla(row) else "unknown"
    often = _often(row)
    summary = f"Not seen: {row.what}{often and f' ({often})'}: {row.why}."
    evidence = UnseenEvidence(what=row.what, count=row.count, why=row.why)
    severity = "info" if clusters else SEVERITY[code]
    return Finding(code, severity, None, summary, evidence, advice(code, evidence), (), unseen=True)


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
    return Finding(
        "unknown",
        "info",
        None,
        summary,
        UnseenEvidence(what=row.what, count=row.count, why=row.why),
        None,
        (),
    )
