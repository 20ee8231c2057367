"""Data that Python sends."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.diagnosis.rules.placements import both_named
from app.facts.devices import is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import Transfer
from app.judgments.judgment import Judgment
from app.judgments.severity import INFO, WARNING
from probes.trace.rows import Key

BY_ANOTHER_THREAD = "by_another_thread"
PYTHON_DATA = frozenset({"Python", "Const"})


def host_upload(transfer: Transfer) -> dict[str, Any] | None:
    """Python's or numpy's data, sent by itself, as an argument of a call, or when an eager op takes it."""
    if transfer.kind == "upload":
        return {"data": "Python or numpy"}
    if transfer.text("producer_op") not in PYTHON_DATA or not is_host(transfer.src):
        return None
    if transfer.kind == "arg":
        return {"data": "Python or numpy", "argument_made_by": transfer.text("producer_op")}
    # In a graph a constant is an op like any other; and where both devices are named, the code decided.
    eager = not transfer.fields.get("graph") and not both_named(transfer)
    return {"data": "Python or numpy"} if eager else None


def severity_of(transfer: Transfer, evidence: Mapping[str, Any]) -> str:
    """A warning where it holds up the step."""
    return WARNING if transfer.facts.get("stalls") else INFO


def with_thread(judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment, with a note where the thread that sends it makes no steps."""
    pace = None if key.fields.get("graph") else tables.paces.by_key.get(key.id)
    # Of what was seen after all steps that are looked at nobody knows whose counts were added up.
    if pace is None or not pace.elsewhere or not (pace.early or pace.within):
        return judgment
    return dataclasses.replace(judgment, evidence=judgment.evidence | {BY_ANOTHER_THREAD: True})


def by_another_thread(evidence: Mapping[str, Any]) -> bool:
    """Whether all of it is sent so."""
    return evidence.get(BY_ANOTHER_THREAD) is True
