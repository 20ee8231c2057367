"""One tensor makes a round trip, or crosses the host to a third device."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.causes.bounce.direct_paths import direct_path
from app.diagnosis.causes.bounce.paths import Evidence
from app.diagnosis.dialects import function_scopes
from app.fixes.situation import Draft, Situation
from app.judgments.severity import INFO, WARNING
from app.views.naming import some_of

_COPIES = frozenset({"Identity", "_copyto", "_copy"})
"""Ops that code asks for only to have a tensor elsewhere."""


def because(evidence: Evidence) -> str:
    """That a tensor was not changed on its way."""
    causes = some_of((code for code in evidence.causes if code != "unknown"), "causes") or "unknown"
    if evidence.result_of_a_call:
        return function_scopes.BECAUSE
    return f"Nothing changed its values on the way; each hop by itself: {causes}."


def advice(evidence: Evidence) -> str:
    """To keep the tensor where it starts, or to place what it passes."""
    start = next(iter(evidence.stations), "its device")
    if evidence.ways:  # of several cards in turn: a scope of one would be wrong for the others
        start = "the card that it computes on" if evidence.result_of_a_call else "its own device"
    said = function_scopes.advice(evidence, start) or (
        f"Keep the tensor on {start}, or copy it from there straight to where it is used."
    )
    if "Python" in evidence.by:
        at = f", at {evidence.tensor_again_at}" if evidence.tensor_again_at else ""
        said += f" Python need not read it: pass the tensor itself on{at}."
    if _at_one_statement(evidence):
        said += (
            " One line takes every step of the way: leave the stop between out of what it is told to go by."
        )
    return said


def _at_one_statement(evidence: Evidence) -> bool:
    """Whether a statement that runs once for each stop moves a tensor there and on, without Python."""
    lines = list(filter(None, evidence.lines))
    return len(lines) > 1 and len(set(lines)) == 1 and {*evidence.by} <= _COPIES


def fix(situation: Situation) -> Draft | None:
    """The straight way; None for a note that needs no change."""
    noted = situation.finding.severity == INFO and situation.finding.fix is None
    return None if noted else direct_path(situation)


CAUSE = Cause(
    code="bounce",
    severity=WARNING,
    meaning=(
        "One tensor makes a round trip, or crosses the host to a third device, through ops that only move"
        " or reshape it, or through numpy where a checksum shows that nothing changed it. It is reported"
        " once, in place of its hops."
    ),
    evidence=Evidence,
    because=because,
    advice=advice,
    line_advice=function_scopes.line_advice,
    fix=fix,
)
