"""XLA compiled a function, so nothing inside has a placement of its own."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.xla_opaque.detection import CODE, opaque_findings
from app.diagnosis.wording.evidence_facts import Facts
from app.fixes.kernels.compiled_functions import without_xla
from app.judgments.severity import WARNING


def because(facts: Facts) -> str:
    """What was asked for inside of what XLA compiled."""
    asked = facts.told("requested_inside", "devices")
    if not asked:
        return ""
    ran = facts.told("ran_on", "devices")
    return f"Requested inside: {asked}; XLA makes one kernel of it all, which runs on {ran}."


CAUSE = Cause(
    code=CODE,
    severity=WARNING,
    meaning="XLA compiled a function, so nothing inside has a placement of its own. It is reported first.",
    sometimes="warning where device scopes inside were ignored",
    because=because,
    advice=(
        "To look inside, run it with jit_compile=False: device scopes count then, and each op runs by itself"
        " where it is placed, slower and with more memory than what XLA fused."
    ),
    detect=lambda run: opaque_findings(run.tables),
    fix=without_xla,
    hides_others=True,
)
