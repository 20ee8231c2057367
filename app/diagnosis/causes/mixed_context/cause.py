"""The inputs of an MXNet op lie on several contexts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause
from app.diagnosis.causes.mixed_context.detection import CODE, mixed_findings
from app.diagnosis.wording.evidence_facts import Facts
from app.fixes.contexts.array_contexts import mixed_context
from app.judgments.severity import ERROR
from app.views.naming import each, some_of


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


def advice(evidence: Mapping[str, Any]) -> str:
    """To make them on one device, where it is known which lines name no context; else to bring them."""
    met = {*each(evidence.get("ran_on")), *each(evidence.get("inputs_also_on"))} - {"cpu:0"}
    made = each(evidence.get("made_on_default_at"))
    if len(met) != 1 or not made:
        return "Bring the inputs to one device before the op: x.as_in_context(y.context)."
    return (
        f"Make it on {met.pop()} from the start, by ctx= of what is called at {some_of(made, 'lines')};"
        " as_in_context before the op would copy it each time."
    )


CAUSE = Cause(
    code=CODE,
    severity=ERROR,
    meaning=(
        "The inputs of an MXNet op lie on several contexts. CPU contexts read them in place silently; a"
        " CPU and a GPU together raise, by MXNet's source."
    ),
    because=because,
    advice=advice,
    detect=lambda run: mixed_findings(run.tables),
    fix=mixed_context,
)
