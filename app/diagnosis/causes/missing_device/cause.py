"""The requested device does not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.missing_device.detection import CODE, absent_findings
from app.diagnosis.causes.missing_device.rules import with_scope
from app.diagnosis.wording.evidence_facts import Facts
from app.fixes.scopes.nearest_device import missing_device, named_at
from app.judgments.severity import WARNING
from app.views.naming import one


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
    line_advice=named_at,
    detect=lambda run: absent_findings(run.tables, run.hops) if run.launched else [],
    act=of_line,
    fix=missing_device,
    with_lines=with_scope,
)
