"""What a user should know, ranked: one mistake is one finding, however many tensors it moves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.analysis import advice
from app.analysis.basis import weakest
from app.analysis.device_order import order_findings
from app.analysis.devices import in_order, is_host
from app.analysis.drift import drift_findings
from app.analysis.finding import Finding
from app.analysis.hops import Hop
from app.analysis.matrix import total
from app.analysis.mixed import mixed_findings
from app.analysis.severity import RANK, SEVERITY
from app.analysis.syncs import Sync
from app.analysis.tables import Tables
from app.views import units
from probes.trace.rows import Unseen

_BY_LINE = frozenset(
    {
        "gradient-outside-scope",
        "default-device",
        "collective",
        "reduce-on-host",
        "host-sync",
        "host-upload",
        "variable-home",
    }
)
"""One line is the mistake, or the one act, whichever devices it sends between."""
_NAMES_SHOWN = 3
_MANY, _GOOD_PART = 50, 0.1
"""Waits at one line, and the part of the run that they take, from which on they are worth a change."""


def run_findings(
    tables: Tables, hops: Sequence[Hop], syncs: Sequence[Sync], spec: Mapping[str, Any] | None = None
) -> list[Finding]:
    """All findings of a run whose hops and syncs are these, and that was launched by this `spec`."""
    more = [*mixed_findings(tables), *drift_findings(tables), *order_findings(spec or {}, tables)]
    return findings(hops, syncs, tables.unseen, tables.rounds, tables.steps, more, tables.span_ns)


def findings(
    hops: Sequence[Hop],
    syncs: Sequence[Sync],
    unseen: Sequence[Unseen],
    rounds: int = 0,
    steps: int | None = None,
    more: Iterable[Finding] = (),
    span_ns: int = 0,
) -> list[Finding]:
    """All findings: first what could not be seen, then by severity; what recurs first, by bytes.

    `rounds` is how often "every step" is; with `steps` None it counts calls. `more` are findings about
    something else than transfers and waits, to be ranked among them. `span_ns` is how long the run was
    recorded; 0 where that is not known.
    """
    telling = _Telling(rounds, "step" if steps else "call", span_ns)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, hop in enumerate(hops):
        if hop.count != 0:
            groups.setdefault((hop.cause.code, hop.blamed_site, *_act(hop)), []).append(index)
    found = [_of_hops(rows, hops, syncs, telling) for rows in groups.values()]
    pulled = {(hop.src, hop.site) for hop in hops if hop.kind == "pull" and hop.count != 0}
    waits: dict[tuple[Any, ...], list[Sync]] = {}
    for sync in syncs:
        if not is_host(sync.device) and sync.count and (sync.device, sync.site) not in pulled:
            waits.setdefault((sync.site, sync.kind, sync.takes), []).append(sync)
    found += [_of_syncs(alike, telling) for alike in waits.values()]
    found += more
    found.sort(key=_order)
    return [_of_unseen(row) for row in unseen] + found


def _act(hop: Hop) -> tuple[str, ...]:
    """What makes several transfers of one line one finding, beside their cause."""
    if hop.cause.code in _BY_LINE:
        return ()
    call = hop.cause.evidence.get("call")
    return (str(call),) if call else (hop.src, hop.dst)


def _order(finding: Finding) -> tuple[int, bool, int]:
    return RANK.get(finding.severity, 9), not finding.recurs, -finding.bytes_known


@dataclasses.dataclass(frozen=True)
class _Telling:
    rounds: int
    word: str
    span_ns: int = 0

    def recurring(self, hops: Sequence[Hop]) -> list[Hop]:
        """Those of them that happen every step."""
        return [hop for hop in hops if self.times_a_step(hop)]

    def times_a_step(self, hop: Hop) -> int:
        """How often in every step, 0 for less; processes that are ended differ by a few steps."""
        if self.rounds <= 1:
            return 0
        return ((hop.count or 0) + self.rounds // 100) // self.rounds

    def costly(self, syncs: Sequence[Sync]) -> str:
        """``, 38 % of the run`` for many waits that are a good part of it; '' for others."""
        stood = sum(sync.stood_ns or 0 for sync in syncs)
        if not self.span_ns or sum(sync.count for sync in syncs) < _MANY:
            return ""
        share = stood / self.span_ns
        return f", {units.percent(share)} of the run" if share >= _GOOD_PART else ""

    def copying(self, hops: Sequence[Hop]) -> str:
        """``, about 1.3 ms of copying each step (estimated)``; '' where not all of it can be estimated."""
        times = [hop.seconds_total for hop in hops]
        if None in times:
            return ""
        recurring = self.recurring(hops)
        each = sum((hop.seconds or 0.0) * self.times_a_step(hop) for hop in recurring)
        every = sum(seconds or 0.0 for seconds in times)
        told, when = (each, f" each {self.word}") if recurring else (every, "")
        return f", about {units.duration(told)} of copying{when} (estimated)"

    def cost(self, hops: Sequence[Hop]) -> str:
        """``4.2 MiB each step``, or in the whole run where it does not happen every step."""
        moved, count = total(hop.bytes_total for hop in hops), total(hop.count for hop in hops)
        known = sum(hop.bytes_total or 0 for hop in hops)
        if count is None or moved is None:
            unknown = (
                "how often is not known" if count is None else f"{units.plural(count, 'transfer')} in all"
            )
            return f"at least {units.size(known)}, {unknown}" if known else f"bytes not known, {unknown}"
        recurring = self.recurring(hops)
        if recurring:
            # What does not divide, such as an evaluation's share, is not of every step.
            parts = [(hop.bytes or 0, hop.count or 0, self.times_a_step(hop)) for hop in hops]
            each = sum(size * times for size, _, times in parts)
            besides = sum(size * max(0, count - times * self.rounds) for size, count, times in parts)
            more = f", {units.size(besides)} besides" if besides else ""
            return f"{units.size(each)} each {self.word}{more}"
        return f"{units.size(moved)} in the whole run, {units.plural(count, 'transfer')}"


def _of_hops(rows: list[int], hops: Sequence[Hop], syncs: Sequence[Sync], telling: _Telling) -> Finding:
    part = [hops[index] for index in rows]
    first = part[0]
    code = first.cause.code
    severity = min((hop.cause.severity for hop in part), key=lambda name: RANK.get(name, 9))
    evidence = _common([hop.cause.evidence for hop in part])
    evidence["transfers"] = total(hop.count for hop in part)
    evidence["bytes"] = total(hop.bytes_total for hop in part)
    if all(hop.seconds_total is not None for hop in part):
        evidence["estimated_copying_ns"] = round(sum(hop.seconds_total or 0.0 for hop in part) * 1e9)
    waits: list[Sync] = []
    if code == "host-sync":
        taken = {(hop.src, hop.site) for hop in part}
        waits = [sync for sync in syncs if (sync.device, sync.site) in taken]
        evidence |= _waited(waits)
    pairs = list(dict.fromkeys((hop.src, hop.dst) for hop in part))
    summary = advice.summary(code, first, _named(part), pairs, evidence)
    recurs = bool(telling.recurring(part))
    share = telling.costly(waits)
    if share and severity == "info":
        severity = SEVERITY[code]
    # What happens once, at the start, needs no change.
    wrong = recurs or severity != "info"
    return Finding(
        code,
        severity,
        first.blamed_site,
        f"{summary}: {telling.cost(part)}{telling.copying(part)}{_standstill(waits)}{share}.",
        evidence,
        advice.fix(code, evidence) if wrong else None,
        tuple(rows),
        recurs,
        sum(hop.bytes_total or 0 for hop in part),
    )


def _of_syncs(syncs: Sequence[Sync], telling: _Telling) -> Finding:
    """Waits of one kind at one line, for one device or several."""
    first, count = syncs[0], sum(sync.count for sync in syncs)
    share = telling.costly(syncs)
    often = bool(share) or (telling.rounds > 1 and count >= telling.rounds)
    sources = in_order(sync.source for sync in syncs)
    evidence = {"kind": first.kind, "device": _alone(sources), "count": count} | _waited(syncs)
    does = "takes a value from" if first.takes else "waits for"
    named = advice.some_of(sources, "devices")
    summary = f"Python {does} {named} by {first.kind} at {first.site or 'an unknown line'}"
    severity = SEVERITY["host-sync"] if often else "info"
    text = f"{summary}: {units.times(count)}{_standstill(syncs)}{share}."
    change = advice.fix("host-sync", evidence | {"takes": first.takes}) if often else None
    return Finding("host-sync", severity, first.site, text, evidence, change, (), often)


def _waited(syncs: Sequence[Sync]) -> dict[str, Any]:
    """How long Python stood still; the part of it that was copying where that is known."""
    waited, copied = total(sync.wait_ns for sync in syncs), total(sync.copy_ns for sync in syncs)
    evidence: dict[str, Any] = {"wait_ns": waited}
    return evidence | ({} if copied is None or not syncs else {"copy_ns": copied})


def _standstill(syncs: Sequence[Sync]) -> str:
    """``, 8 ms waited and 2 ms copying (measured)``."""
    told = _waited([sync for sync in syncs if sync.wait_ns is not None])
    if not told["wait_ns"]:
        return ""
    copied = f" and {units.duration(told['copy_ns'] / 1e9)} copying" if told.get("copy_ns") else ""
    basis = weakest(sync.basis for sync in syncs if sync.wait_ns is not None)
    return f", {units.duration(told['wait_ns'] / 1e9)} waited{copied} ({basis})"


def _of_unseen(row: Unseen) -> Finding:
    opaque = "xla" in row.why.lower() or "jit_compile" in row.why.lower()
    code = "xla-opaque" if opaque else "unknown"
    summary = f"Not seen: {row.what} ({units.times(row.count)}): {row.why}."
    evidence = {"what": row.what, "count": row.count, "why": row.why}
    return Finding(code, "warning", None, summary, evidence, advice.fix(code, evidence), ())


def _common(evidences: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What all say alike as it is, what differs as a list."""
    merged: dict[str, Any] = {}
    for name in dict.fromkeys(name for evidence in evidences for name in evidence):
        values = list({repr(evidence.get(name)): evidence.get(name) for evidence in evidences}.values())
        merged[name] = _alone(values)
    return merged


def _alone(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else list(values)


def _named(hops: Sequence[Hop]) -> str:
    """``MatMul`` or ``MatMul, ReluGrad and 3 more``: the consumers' types."""
    names = list(dict.fromkeys(hop.op for hop in hops if hop.op))
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMES_SHOWN])} and {len(names) - _NAMES_SHOWN} more"
