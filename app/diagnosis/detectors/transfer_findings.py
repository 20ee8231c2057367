"""Transfers that are one mistake, or one act, as one finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.diagnosis.causes.variable_home.changes import changed_at, of_changes
from app.diagnosis.detectors.consequences import put_back
from app.diagnosis.registry import BY_CODE, advice, summary
from app.diagnosis.wording.transfer_costs import Telling, cost_ns, standstill
from app.diagnosis.wording.transfer_words import Crossing
from app.facts.devices import in_order
from app.facts.lines import split_site
from app.facts.syncs import Sync
from app.facts.transfers.device_matrix import total
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY
from app.judgments.finding import Finding
from app.judgments.severity import INFO, RANK, WARNING
from app.views.naming import alone, some_of
from probes.trace.hop import LIBRARYS_OWN

_NAMES_SHOWN = 3


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
    text = _summary(cause.code, part, evidence)
    if further := {hop.blamed_site for hop in part if hop.blamed_site not in (None, first.blamed_site)}:
        evidence["also_at"] = _in_order(filter(None, further))
        text += f", and at {some_of(evidence['also_at'], 'lines')}"
    along = _along(evidence, consequences)
    if consequences and cause.code == "variable-home" and not evidence.get("gradient_goes_back"):
        along = of_changes(consequences)
        evidence |= {"changed_at": lines} if (lines := changed_at(consequences)) else {}
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


def _measured(part: Sequence[Hop], whole: Sequence[Hop]) -> dict[str, Any]:
    """What their evidence has in common, and how much they move."""
    evidence = _common([hop.cause.evidence for hop in part])
    evidence["transfers"] = total(hop.count for hop in whole)
    evidence["bytes"] = total(hop.bytes_total for hop in whole)
    if all(hop.seconds_total is not None for hop in whole):
        evidence["estimated_copying_ns"] = round(sum(hop.seconds_total or 0.0 for hop in whole) * 1e9)
    return evidence


def _along(evidence: Mapping[str, Any], consequences: Sequence[Hop]) -> str:
    """What goes with them, in words."""
    if consequences and evidence.get("gradient_goes_back"):
        return ", with its gradient's way back"
    changed = put_back(consequences)
    return f", with what goes back to variables on {some_of(changed, 'devices')}" if changed else ""


def _needless(part: Sequence[Hop]) -> bool:
    """Whether what recurs needs a change: not a scalar or two, nor what a library takes for itself."""
    taken = any(hop.cause.evidence.get("taken_by") not in LIBRARYS_OWN for hop in part)
    return taken and any((hop.bytes or TINY + 1) > TINY for hop in part)


def _summary(code: str, part: Sequence[Hop], evidence: Mapping[str, Any]) -> str:
    """One sentence; of ops that nobody placed, only what they take tells what they are away from."""
    taking = [hop for hop in part if hop.cause.blames != "producer"]
    both = code == "default-device" and 0 < len(taking) < len(part)
    told = taking if both else part
    pairs = list(dict.fromkeys((hop.src, hop.dst) for hop in told))
    text = summary(code, Crossing(told[0], _named(part), pairs, evidence))
    if not both:
        return text
    users = in_order(hop.dst for hop in part if hop.cause.blames == "producer")
    return f"{text}, and used on {some_of(users, 'devices')}"


def _in_order(sites: Iterable[str]) -> list[str]:
    """Sites by file and line."""
    return sorted(sites, key=lambda site: split_site(site) or (site, 0))


def _common(evidences: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What all say alike as it is, what differs as a list."""
    merged: dict[str, Any] = {}
    for name in dict.fromkeys(name for evidence in evidences for name in evidence):
        values = list({repr(evidence.get(name)): evidence.get(name) for evidence in evidences}.values())
        merged[name] = alone(values)
    return merged


def _blamed_op(hop: Hop) -> str:
    blamed = hop.cause.code in ("no-kernel", "default-device") and hop.cause.blames == "producer"
    return hop.producer_op if blamed else hop.op


def _named(hops: Sequence[Hop]) -> str:
    """``MatMul`` or ``MatMul, ReluGrad and 3 more``: the consumers' types.

    Of what has no kernel, or no scope, the ops that have none, not those that use their results.
    """
    names = list(dict.fromkeys(name for name in map(_blamed_op, hops) if name))
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMES_SHOWN])} and {len(names) - _NAMES_SHOWN} more"
