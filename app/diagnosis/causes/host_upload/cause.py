"""Python or numpy data was sent to a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.host_upload.rules import (
    BY_ANOTHER_THREAD,
    by_another_thread,
    severity_of,
    with_thread,
)
from app.diagnosis.wording.ends import destination
from app.diagnosis.wording.evidence_facts import Facts
from app.fixes.flow.returned_data import taken_before
from app.fixes.paths.repeated_uploads import host_upload
from app.fixes.situation import Situation
from app.judgments.severity import INFO


def because(facts: Facts) -> str:
    """Who takes what Python sends."""
    runs = facts.told("dst", "devices")
    told = (
        f"What takes it runs on {runs}{facts.scope('scope')}; until then it was Python's or numpy's memory."
    )
    if BY_ANOTHER_THREAD in facts:
        told += " Another thread sends it than the one that makes the steps."
    return told


def advice(evidence: Mapping[str, Any]) -> str | None:
    """To send it ahead; None for what is sent ahead already, by another thread."""
    if by_another_thread(evidence):
        return None
    return (
        "What is known ahead of its step, send ahead (a prefetching input pipeline); make what stays the same"
        f" once, on {destination(evidence)}, before the loop."
    )


def line_advice(situation: Situation, said: str) -> str | None:
    """To hand the tensor itself on, of data that was taken from one."""
    taken = taken_before(situation)
    if taken is None:
        return said
    return (
        f"Its data was taken from {taken[0]} at {taken[1]}: hand the tensor itself on, and make what is made"
        " of it in between on the device, with the framework's ops; then nothing is sent."
    )


CAUSE = Cause(
    code="host-upload",
    severity=INFO,
    meaning="Python or numpy data was sent to a device.",
    sometimes="note; warning where measured uploads take a quarter of the run",
    summary="Python or numpy data is sent to {dsts} at {at}",
    because=because,
    advice=advice,
    line_advice=line_advice,
    act=of_line,
    fix=host_upload,
    severity_of=severity_of,
    with_lines=with_thread,
)
