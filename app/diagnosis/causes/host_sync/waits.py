"""Waits that no transfer tells, as findings."""

from __future__ import annotations

from collections.abc import Sequence

from app.diagnosis.causes.host_sync import library_functions
from app.diagnosis.causes.host_sync.cause import CAUSE, advice
from app.diagnosis.causes.host_sync.library_functions import Evidence
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
    named = library_functions.named([first.kind])
    inside = library_functions.functions(via for one in syncs for via in one.via) if named else None
    brought = in_order(sync.device for sync in syncs if sync.waits_for)
    evidence = Evidence(
        kind=first.kind,
        device=alone(sources),
        count=count,
        waited=waited(syncs),
        inside=inside or None,
        value_on=alone(brought) if brought and first.takes else None,
    )
    does = "takes a value from" if first.takes else "waits for"
    where = _lying(syncs) if first.takes else some_of(sources, "devices")
    summary = (
        f"Python {does} {where} by {library_functions.by(evidence)} at {first.site or 'an unknown line'}"
    )
    severity = CAUSE.severity if often else "info"
    text = f"{summary}: {units.times(count)}{standstill(syncs)}{share}."
    change = advice(evidence, first.takes) if often else None
    return Finding(CAUSE.code, severity, first.site, text, evidence, change, (), often, 0, cost_ns((), syncs))


def _lying(syncs: Sequence[Sync]) -> str:
    """``cpu:1``, ``cpu:0, which waits for cpu:2,``: where the values lie, and which others make those."""
    brought = [sync for sync in syncs if sync.waits_for]
    own = in_order(sync.source for sync in syncs if not sync.waits_for)
    if not brought:
        return some_of(own, "devices")
    there = in_order(sync.device for sync in brought)
    devices = in_order(one for sync in brought for one in (sync.waits_for, *sync.waits_for_too))
    makers = some_of(devices, "devices")
    waits = "which waits for" if len(there) == 1 else "which wait for"
    return f"{some_of([*own, *there], 'devices')}, {waits} {makers},"
