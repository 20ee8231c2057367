"""The requested device does not exist."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.missing_device.detection import CODE, absent_findings
from app.diagnosis.wording.evidence_facts import Facts
from app.facts.devices import parse
from app.facts.tables import Tables
from app.facts.transfers.transfer import READS, Transfer
from app.fixes.scopes import nearest_device
from app.judgments.judgment import Judgment
from app.judgments.severity import WARNING
from app.views.naming import one
from probes.trace.rows import Key


def missing_device(transfer: Transfer) -> dict[str, Any] | None:
    """The device that the code named for the consumer does not exist here, and it ran on another."""
    return _missing(transfer, transfer.requested, transfer.dst)


def made_on_missing_device(transfer: Transfer) -> dict[str, Any] | None:
    """The device that the code named for the producer does not exist here, and it ran on another.

    Not of a variable's value, which is read where that lives.
    """
    if transfer.text("producer_op") in READS:
        return None
    return _missing(transfer, transfer.producer_requested, transfer.src)


def _missing(transfer: Transfer, name: str, ran_on: str) -> dict[str, Any] | None:
    devices = transfer.context.devices
    missing = bool(devices) and parse(name) is not None and name not in devices and ran_on != name
    return {"missing": name, "ran_on": ran_on} if missing else None


def with_scope(judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with the line of the scope that asked for it."""
    end = "producer_scope" if judgment.blames == "producer" else "scope"
    if end not in judgment.evidence:
        return judgment
    asked = {"asked_in": judgment.evidence[end]}
    if opener := judgment.evidence.get(f"{end}_opener"):
        asked["asked_in_opener"] = str(opener)
    return dataclasses.replace(judgment, evidence=judgment.evidence | asked)


def because(facts: Facts) -> str:
    """A device was asked for that is not there."""
    if "raised" in facts:
        if facts.told("build") == "without GPUs":
            return "This build of MXNet works without GPUs only; pip has others, which are built for CUDA."
        gpus = facts.told("gpus")
        return f"MXNet is shown {gpus} {'GPU' if gpus == '1' else 'GPUs'} here, counted from gpu:0."
    if "asked_at" in facts:
        return (
            "TensorFlow takes another device in silence where one does not exist;"
            " tf.config.set_soft_device_placement(False) makes it an error."
        )
    asked = f"{facts.told('missing', 'devices')}{facts.scope('asked_in')}"
    ran_on = facts.told("ran_on", "devices")
    return f"Requested: {asked}; the runtime has no such device and placed it on {ran_on}."


def advice(evidence: Mapping[str, Any]) -> str:
    """To name a device that exists, or to find out why no GPU does."""
    if evidence.get("asked_at") and one(evidence.get("missing")).startswith("gpu:"):
        return (
            "The program is shown no such GPU: check the driver, the framework's build and"
            " CUDA_VISIBLE_DEVICES. What would cross with GPUs is foreseen by: python3 -m app preflight --"
            " SCRIPT."
        )
    return "Name a device that exists here, or let the framework refuse one that does not."


CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    meaning="The requested device does not exist. TensorFlow takes another one silently, MXNet raises.",
    sometimes="warning; error where it raised",
    summary="The code at {at} asks for {missing}, which does not exist here; it ran on {ran_on}",
    because=because,
    advice=advice,
    line_advice=nearest_device.named_at,
    detect=lambda run: absent_findings(run.tables, run.hops) if run.launched else [],
    act=of_line,
    fix=nearest_device.missing_device,
    with_lines=with_scope,
)
