"""The inputs of an MXNet op lie on several contexts."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.mixed_context.detection import CODE, mixed_findings
from app.diagnosis.wording.evidence_facts import Facts
from app.fixes.contexts.array_contexts import mixed_context
from app.fixes.contexts.array_creators import of_mixed
from app.judgments.severity import ERROR


def because(facts: Facts) -> str:
    """Where the inputs of an op on several contexts were made."""
    if "made_on_default_at" in facts:
        makers = facts.told("made_on_default", "ops").replace("Python", "Python data")
        at = facts.told("made_on_default_at", "lines")
        return (
            f"The input on cpu:0 was made by {makers} at {at}, or comes from that. An array that is made"
            " without a context lies on the current one, cpu(0) by default."
        )
    if "inputs_made_by" not in facts:
        return ""
    makers = facts.told("inputs_made_by", "ops").replace("Python", "Python data")
    at = facts.told("inputs_made_at", "lines")
    made = f"Inputs on {facts.told('inputs_also_on', 'devices')} were made by {makers}{at and f' at {at}'}."
    if "cpu:0" not in facts.each("inputs_also_on"):
        return made
    return f"{made} An array that is made without a context lies on the current one, cpu(0) by default."


CAUSE = Cause(
    code=CODE,
    severity=ERROR,
    meaning=(
        "The inputs of an MXNet op lie on several contexts. CPU contexts read them in place silently; a"
        " CPU and a GPU together raise, by MXNet's source."
    ),
    because=because,
    advice="Bring the inputs to one device before the op: x.as_in_context(y.context).",
    line_advice=of_mixed,
    detect=lambda run: mixed_findings(run.tables),
    fix=mixed_context,
)
