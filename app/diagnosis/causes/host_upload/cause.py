"""Python or numpy data was sent to a device."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.host_upload.example import EXAMPLE
from app.diagnosis.rules.placements import both_named
from app.diagnosis.wording.scope_openers import consumer_scope
from app.diagnosis.wording.transfer_costs import Telling, told_at, waited
from app.diagnosis.wording.transfer_words import destination
from app.facts.devices import is_host
from app.facts.groups import grouped
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import Transfer
from app.fixes.flow.value_flow import uses
from app.fixes.flow.value_roles import Role
from app.fixes.situation import Situation
from app.judgments.evidence import HostReadEvidence, Known, TransferEvidence
from app.judgments.judgment import Judgment
from app.judgments.severity import INFO, WARNING
from app.views.naming import told
from probes.trace.rows import Key

PYTHON_DATA = frozenset({"Python", "Const"})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of data that Python sends."""

    data: Known[str] = "Python or numpy"
    argument_made_by: Known[str] = None
    by_another_thread: Known[bool] = None
    """The thread that sends it makes no steps."""


def host_upload(transfer: Transfer) -> Evidence | None:
    """Python's or numpy's data, sent by itself, as an argument of a call, or when an eager op takes it."""
    if transfer.kind == "upload":
        return Evidence()
    if transfer.producer_op not in PYTHON_DATA or not is_host(transfer.src):
        return None
    if transfer.kind == "arg":
        return Evidence(argument_made_by=transfer.producer_op)
    # In a graph a constant is an op like any other; and where both devices are named, the code decided.
    eager = not transfer.fields.get("graph") and not both_named(transfer)
    return Evidence() if eager else None


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A warning where it holds up the step."""
    return WARNING if transfer.facts.get("stalls") else INFO


def with_thread(evidence: Evidence, judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment, with a note where the thread that sends it makes no steps."""
    pace = None if key.fields.get("graph") else tables.paces.by_key.get(key.id)
    # Of what was seen after all steps that are looked at nobody knows whose counts were added up.
    if pace is None or not pace.elsewhere or not (pace.early or pace.within):
        return judgment
    return judgment.knowing(by_another_thread=True)


def because(evidence: Evidence) -> str:
    """Who takes what Python sends."""
    runs = f"{told(evidence.dst, 'devices')}{consumer_scope(evidence)}"
    said = f"What takes it runs on {runs}; until then it was Python's or numpy's memory."
    if evidence.by_another_thread:
        said += " Another thread sends it than the one that makes the steps."
    return said


def advice(evidence: Evidence) -> str | None:
    """To send it ahead; None for what is sent ahead already, by another thread."""
    if evidence.by_another_thread is True:
        return None
    return (
        "What is known ahead of its step, send ahead (a prefetching input pipeline); make what stays the same"
        f" once, on {destination(evidence)}, before the loop."
    )


def line_advice(situation: Situation, said: str) -> str | None:
    """To hand the tensor itself on, of data that was taken from one."""
    taken = read_before(situation)
    if taken is None:
        return said
    return (
        f"Its data was taken from {taken[0]} at {taken[1]}: hand the tensor itself on, and make what is made"
        " of it in between on the device, with the framework's ops; then nothing is sent."
    )


def waits_of(part: Sequence[Hop], syncs: Sequence[Sync]) -> list[Sync]:
    """Waits to send to an array in use."""
    sent = {(hop.dst, hop.site, True) for hop in part}
    return [sync for sync in syncs if told_at(sync) in sent]


def evidence_of(evidence: Evidence, part: Sequence[Hop], waits: Sequence[Sync]) -> Evidence:
    """With the waits, and that another thread sends it only if that sends all of it."""
    return dataclasses.replace(
        evidence,
        by_another_thread=evidence.by_another_thread is True or None,
        waited=waited(waits) if waits else None,
    )


def share(part: Sequence[Hop], waits: Sequence[Sync], evidence: Evidence, telling: Telling) -> str:
    """The part of the run that it holds up; '' for another thread's, which the steps need not wait for."""
    return "" if evidence.by_another_thread is True else telling.costly(waits) or telling.stalling(part)


_BACK = (Role.GOES_BACK, Role.COMES_BACK)


def read_before(situation: Situation) -> tuple[str, str] | None:
    """The device, and the line that read from it what the finding's line sends there; None for none.

    Such data comes from no pipeline: nothing can prepare it ahead of the step that makes it.
    """
    devices = {hop.dst for hop in situation.hops}
    read = grouped(
        (hop.site, hop)
        for hop in situation.others
        if hop.kind == "pull" and hop.site and hop.src in devices and hop.count != 0
    )
    for site, hops in read.items():
        if (there := situation.at(site)) is None:
            continue
        finding = dataclasses.replace(situation.finding, site=site, evidence=HostReadEvidence())
        found = uses(dataclasses.replace(there, finding=finding, hops=hops))
        if any(use.role in _BACK and use.site == situation.finding.site for use in found):
            return hops[0].src, str(site)
    return None


CAUSE = Cause(
    code="host-upload",
    severity=INFO,
    evidence=Evidence,
    meaning="Python or numpy data was sent to a device.",
    example=EXAMPLE,
    sometimes="note; warning where measured uploads take a quarter of the run",
    summary="Python or numpy data is sent to {dsts} at {at}",
    because=because,
    advice=advice,
    line_advice=line_advice,
    act=of_line,
    severity_of=severity_of,
    with_lines=with_thread,
    evidence_of=evidence_of,
    waits=waits_of,
    share=share,
)
