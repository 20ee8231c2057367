"""Transfers that are one mistake, or one act, as one finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.diagnosis.causes.host_sync.waits import told_at
from app.diagnosis.causes.host_upload.rules import BY_ANOTHER_THREAD, by_another_thread
from app.diagnosis.causes.variable_home.changes import changed_at, of_changes
from app.diagnosis.detectors.consequences import put_back
from app.diagnosis.registry import advice, summary
from app.diagnosis.wording import library_functions
from app.diagnosis.wording.transfer_costs import Telling, cost_ns, standstill, waited
from app.diagnosis.wording.transfer_words import Crossing
from app.facts.devices import in_order
from app.facts.lines import split_site
from app.facts.syncs import Sync
from app.facts.transfers.device_matrix import total
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY
from app.judgments.finding import Finding
from app.judgments.severity import RANK
from app.views.naming import alone, some_of
from probes.trace.hop import HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, LIBRARYS_OWN, MAKE_ROOM

_NAMES_SHOWN = 3
_HANDED = frozenset({HANDED_TO_FUNCTION, HANDED_TO_OPERATOR})
_NOT_MAKERS = MAKE_ROOM | {"", "?"}
"""Producers that say nothing of a value."""


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
    whole = [over[index] for index in (*rows, *more)]
    first = part[0]
    code = first.cause.code
    severity = min((hop.cause.severity for hop in part), key=lambda name: RANK.get(name, 9))
    evidence = _common([hop.cause.evidence for hop in part])
    if not by_another_thread(evidence):
        evidence.pop(BY_ANOTHER_THREAD, None)  # a part of it is sent by the thread that makes the steps
    evidence["transfers"] = total(hop.count for hop in whole)
    evidence["bytes"] = total(hop.bytes_total for hop in whole)
    if all(hop.seconds_total is not None for hop in whole):
        evidence["estimated_copying_ns"] = round(sum(hop.seconds_total or 0.0 for hop in whole) * 1e9)
    if code == "gradient-outside-scope":
        evidence["forward_at"] = list(dict.fromkeys(hop.forward_site for hop in part if hop.forward_site))
    if code == "variable-home" and len({hop.dst for hop in part}) > 1 and _read_apart(part):
        evidence["one_reader_each"] = True
    if isinstance(made := evidence.get("object_made_at"), list):
        evidence["object_made_at"] = _in_order(filter(None, made))
    if evidence.get("sent_again"):
        evidence["sent_from"] = list(dict.fromkeys(hop.producer_site for hop in part if hop.producer_site))
    waits: list[Sync] = []
    if code == "host-sync":
        # What was read to the host first is taken there, and waited for on its device.
        taken = {(hop.src, hop.site, False) for hop in part}
        taken |= {(hop.dst, hop.site, False) for hop in part if hop.kind != "pull"}
        waits = [sync for sync in syncs if told_at(sync) in taken]
        evidence |= waited(waits) | _made(part) | _taking(part, waits)
    if code == "host-upload":
        sent = {(hop.dst, hop.site, True) for hop in part}
        waits = [sync for sync in syncs if told_at(sync) in sent]
        evidence |= waited(waits) if waits else {}
    text = _summary(code, part, evidence)
    further = {hop.blamed_site for hop in part if hop.blamed_site and hop.blamed_site != first.blamed_site}
    if further:
        evidence["also_at"] = _in_order(further)
        text += f", and at {some_of(evidence['also_at'], 'lines')}"
    recurs = bool(telling.recurring(part))
    changed = put_back(over[row] for row in more)
    along = f", with what goes back to variables on {some_of(changed, 'devices')}" if changed else ""
    along = ", with its gradient's way back" if more and evidence.get("gradient_goes_back") else along
    if more and code == "variable-home" and not evidence.get("gradient_goes_back"):
        along = of_changes(over[row] for row in more)
        evidence |= {"changed_at": lines} if (lines := changed_at(over[row] for row in more)) else {}
    # Named are a library's own takes too, but only what the code takes makes a warning, or a rank.
    codes = [sync for sync in waits if sync.kind not in LIBRARYS_OWN]
    share = telling.costly(codes) or (telling.stalling(part) if code == "host-upload" else "")
    if by_another_thread(evidence):
        share = ""  # the thread that makes the steps need not wait for it
    if share and severity == "info":
        severity = "warning"
    # What happens once, at the start, needs no change, nor does a scalar or two.
    needless = recurs and any(hop.cause.evidence.get("taken_by") not in LIBRARYS_OWN for hop in part)
    wrong = severity != "info" or (needless and any((hop.bytes or TINY + 1) > TINY for hop in part))
    return Finding(
        code,
        severity,
        first.blamed_site,
        f"{text}: {telling.cost(whole)}{along}{telling.copying(whole)}{standstill(waits)}{share}.",
        evidence,
        advice(code, evidence) if wrong else None,
        tuple(rows),
        recurs,
        sum(hop.bytes_total or 0 for hop in whole),
        cost_ns(whole, codes),
        shares={row: over[row].count or 0 for row in (*rows, *more) if over[row].count != hops[row].count},
        consequences=tuple(more),
    )


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


def _read_apart(hops: Sequence[Hop]) -> bool:
    """Whether each of the variables is read on one device only."""
    readers: dict[str, set[str]] = {}
    for hop in hops:
        readers.setdefault(str(hop.cause.evidence.get("variable") or hop.tensor), set()).add(hop.dst)
    return all(len(devices) == 1 for devices in readers.values())


def _made(hops: Sequence[Hop]) -> dict[str, Any]:
    """Which ops made what Python took, where they are known, and what was but handed to Python by whom."""
    known: dict[str, list[str]] = {}
    for hop in hops:
        if hop.producer_op not in _NOT_MAKERS:
            name = "handed_by" if hop.producer_op in _HANDED else "made_by"
            text = f"{hop.producer_op} at {hop.producer_site or 'an unknown line'}"
            known.setdefault(name, []).append(text)
    return {name: list(dict.fromkeys(texts)) for name, texts in known.items()}


def _taking(hops: Sequence[Hop], waits: Sequence[Sync]) -> dict[str, Any]:
    """The library's function that takes the values, if the code does not, and waits that take nothing."""
    taken = [str(hop.cause.evidence.get("taken_by")) for hop in hops]
    told: dict[str, Any] = {}
    if all(hop.kind == "pull" for hop in hops) and library_functions.named(taken):
        told["inside"] = library_functions.functions(hop.via for hop in hops)
    told["waits_by"] = list(dict.fromkeys(sync.kind for sync in waits if not sync.takes))
    return {name: found for name, found in told.items() if found}


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
