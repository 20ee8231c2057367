"""Memory differs much between devices, or a GPU was given and ran nothing."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.causes.unbalanced.example import EXAMPLE
from app.diagnosis.wording.evidence_labels import Label
from app.facts.devices import in_order, is_gpu, is_host
from app.facts.memory import Memory, memory_table
from app.facts.placement import placement
from app.facts.tables import Tables
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from app.judgments.severity import WARNING
from app.views import units
from app.views.naming import some_of

CODE = "unbalanced"
_TIMES = 4
"""How much more memory one device holds than another, from which on that is far apart."""
_LEAST_BYTES = 256 << 20
"""Of the fuller one: below it a card has room enough however it is shared out."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Idle(FindingEvidence):
    """Of GPUs that run nothing."""

    without_ops: list[str]
    with_ops: list[str]
    ops: Mapping[str, int]
    """By device."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fullness(FindingEvidence):
    """Of devices with much and with little memory in use."""

    peak_bytes: Mapping[str, int]
    basis: str


def balance_findings(spec: Mapping[str, Any], tables: Tables) -> list[Finding]:
    """What is far from equal between the devices that took part, the host aside."""
    ops = {row["device"]: row["ops"] for row in placement(tables)}
    return [*_idle_cards(spec, ops), *_memory(memory_table(tables), ops, tables)]


def _idle_cards(spec: Mapping[str, Any], ops: Mapping[str, int]) -> list[Finding]:
    given = spec.get("device_map")
    if spec.get("kind") != "script" or not spec.get("devices") or not isinstance(given, Mapping):
        return []
    cards = [device for device in given if is_gpu(str(device))]
    idle = in_order(device for device in cards if not ops.get(device))
    busy = in_order(device for device in cards if ops.get(device))
    if not idle or not busy:
        return []
    evidence = Idle(without_ops=idle, with_ops=busy, ops={device: ops[device] for device in busy})
    named = some_of(idle, "devices")
    summary = (
        f"{named} {'were' if len(idle) > 1 else 'was'} given to the script and ran nothing; all its ops ran"
        f" on {some_of(busy, 'devices')}."
    )
    return [Finding(CODE, WARNING, None, summary, evidence, None, ())]


def _memory(rows: Sequence[Memory], ops: Mapping[str, int], tables: Tables) -> list[Finding]:
    known = {
        row.device: row.peak_bytes
        for row in rows
        if row.peak_bytes and not is_host(row.device) and ops.get(row.device)
    }
    bases = {row.basis for row in rows if row.device in known}
    if len(known) < 2 or len(bases) > 1:  # figures of different kinds say nothing of each other
        return []
    fullest, emptiest = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    most, least = known[fullest], known[emptiest]
    if most < _LEAST_BYTES or most < _TIMES * least:
        return []
    basis = bases.pop()
    evidence = Fullness(peak_bytes=known, basis=basis)
    summary = (
        f"{fullest} held up to {units.size(most)} and {emptiest} no more than {units.size(least)} ({basis}):"
        " the fuller one limits how large the run can be."
    )
    return [Finding(CODE, WARNING, None, summary, evidence, None, ())]


CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    evidence=FindingEvidence,
    meaning="Memory differs much between devices, or a GPU was given and ran nothing.",
    example=EXAMPLE,
    advice="Share the work out anew: the same part of the batch or of the layers to each device.",
    detect=lambda run: balance_findings(run.spec or {}, run.tables),
    labels={"ops": Label("Distinct ops")},
)
