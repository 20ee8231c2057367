"""Devices that the code names and that do not exist."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.facts.devices import parse
from app.facts.tables import Tables
from app.facts.transfers.transfer import READS, Transfer
from app.judgments.judgment import Judgment
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
