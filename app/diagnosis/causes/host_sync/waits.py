"""Waits that no transfer tells, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.diagnosis.causes.host_sync.cause import CAUSE, advice
from app.diagnosis.wording import library_functions
from app.diagnosis.wording.transfer_costs import Telling, cost_ns, standstill, waited
from app.facts.devices import in_order
from app.facts.syncs import ALL_DEVICES, Sync
from app.judgments.finding import Finding
from app.views import units
from app.views.naming import alone, some_of
from probes.trace.hop import LIBRARYS_OWN


def of_syncs(syncs: Sequence[Sync], telling: Telling) -> Finding:
    """Waits of one kind at one line, for one device or several."""
    first, count = syncs[0], sum(sync.count for sync in syncs)
    share = telling.costly(syncs)
    often = (bool(share) or telling.waits_every_step(syncs)) and first.kind not in LIBRARYS_OWN
    sources = in_order(sync.waited_for or ALL_DEVICES for sync in syncs)
    evidence = {"kind": first.kind, "device": alone(sources), "count": count} | waited(syncs)
    if library_functions.named([first.kind]) and (
        inside := library_functions.functions(via for one in syncs for via in one.via)
    ):
        evidence["inside"] = inside
    does = "takes a value from" if first.takes else "waits for"
    named = _lying(syncs, evidence) if first.takes else some_of(sources, "devices")
    summary = (
        f"Python {does} {named} by {library_functions.by(evidence)} at {first.site or 'an unknown line'}"
    )
    severity = CAUSE.severity if often else "info"
    text = f"{summary}: {units.times(count)}{standstill(syncs)}{share}."
    change = advice(evidence | {"takes": first.takes}) if often else None
    return Finding(CAUSE.code, severity, first.site, text, evidence, change, (), often, 0, cost_ns((), syncs))


def _lying(syncs: Sequence[Sync], evidence: dict[str, Any]) -> str:
    """``cpu:1``, ``cpu:0, which waits for cpu:2,``: where the values lie; noted where others make those."""
    brought = [sync for sync in syncs if sync.waits_for]
    own = in_order(sync.source for sync in syncs if not sync.waits_for)
    if not brought:
        return some_of(own, "devices")
    there = in_order(sync.device for sync in brought)
    evidence["value_on"] = alone(there)
    devices = in_order(one for sync in brought for one in (sync.waits_for, *sync.waits_for_too))
    makers = some_of(devices, "devices")
    waits = "which waits for" if len(there) == 1 else "which wait for"
    return f"{some_of([*own, *there], 'devices')}, {waits} {makers},"
