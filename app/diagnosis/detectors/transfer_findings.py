"""Transfers that are one mistake, or one act, as one finding."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.registry import BY_CODE, advice, summary
from app.diagnosis.wording.transfer_costs import Telling, cost_ns, standstill
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.basis import total
from app.facts.lines import sites_in_order
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY
from app.judgments.evidence import HostReadEvidence, Moved, TransferEvidence
from app.judgments.finding import Finding
from app.judgments.severity import INFO, RANK, WARNING
from app.views.naming import alone, first_of, some_of
from probes.trace.hop import LIBRARYS_OWN


def of_hops(
    rows: list[int],
    over: Sequence[Hop],
    hops: Sequence[Hop],
    syncs: Sequence[Sync],
    telling: Telling,
    more: Sequence[int] = (),
) -> Finding:
    """`over` is what chains leave of the rows of `hops`; `more` are the rows of consequences."""
    part = [over[index] for index in rows]
    consequences = [over[index] for index in more]
    whole = [*part, *consequences]
    first, cause = part[0], BY_CODE[part[0].cause.code]
    waits = cause.waits(part, syncs)
    evidence = cause.evidence_of(_measured(part, whole), part, waits)
    along, evidence = cause.along(evidence, consequences)
    text = summary(cause.code, TransferWords(part, first_of(map(cause.op_named, part)), evidence), evidence)
    if further := sites_in_order({hop.blamed_site for hop in part if hop.blamed_site} - {first.blamed_site}):
        evidence = dataclasses.replace(evidence, also_at=further)
        text += f", and at {some_of(further, 'lines')}"
    # Named are a library's own takes too, but only what the code takes makes a warning, or a rank.
    codes = [sync for sync in waits if sync.kind not in LIBRARYS_OWN]
    share = cause.share(part, codes, evidence, telling)
    severity = min((hop.cause.severity for hop in part), key=lambda name: RANK.get(name, 9))
    if share and severity == INFO:
        severity = WARNING
    recurs = bool(telling.recurring(part))
    return Finding(
        cause.code,
        severity,
        first.blamed_site,
        f"{text}: {telling.cost(whole)}{along}{telling.copying(whole)}{standstill(waits)}{share}.",
        evidence,
        advice(cause.code, evidence) if severity != INFO or (recurs and _needless(part)) else None,
        tuple(rows),
        recurs,
        sum(hop.bytes_total or 0 for hop in whole),
        cost_ns(whole, codes),
        shares={row: over[row].count or 0 for row in (*rows, *more) if over[row].count != hops[row].count},
        consequences=tuple(more),
    )


def _measured(part: Sequence[Hop], whole: Sequence[Hop]) -> TransferEvidence:
    seconds = total(hop.seconds_total for hop in whole)
    moved = Moved(
        transfers=total(hop.count for hop in whole),
        bytes=total(hop.bytes_total for hop in whole),
        estimated_copying_ns=None if seconds is None else round(seconds * 1e9),
    )
    return dataclasses.replace(_common([hop.cause.evidence for hop in part]), moved=moved)


def _needless(part: Sequence[Hop]) -> bool:
    """Whether what recurs needs a change: not a scalar or two, nor what a library takes for itself."""
    taken = any(
        not isinstance(known := hop.cause.evidence, HostReadEvidence) or known.taken_by not in LIBRARYS_OWN
        for hop in part
    )
    return taken and any((hop.bytes or TINY + 1) > TINY for hop in part)


def _common(evidences: Sequence[TransferEvidence]) -> TransferEvidence:
    """What all say alike as it is, what differs as a list."""
    return type(evidences[0])(**_merged([vars(evidence) for evidence in evidences]))


def _merged(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in facts for name in one):
        values = list({repr(one.get(name)): one.get(name) for one in facts}.values())
        by_name = [value for value in values if isinstance(value, Mapping)]
        merged[name] = _merged(by_name) if by_name else alone(values)
    return merged
