"""One tensor makes a round trip, or crosses the host to a third device."""

from __future__ import annotations

import ast

from app.diagnosis.cause import Cause
from app.diagnosis.causes.bounce.example import EXAMPLE
from app.diagnosis.causes.bounce.paths import Evidence
from app.diagnosis.dialects import function_scopes
from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change
from app.fixes.code.device_notation import context_attribute, devices_of, scopes_around, tensorflow
from app.fixes.code.names import called, calls_of, dotted
from app.fixes.code.parsed_source import Source, is_compound
from app.fixes.scopes.device_scopes import later, under_device
from app.fixes.scopes.framework_placement import has_strategy
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
    if evidence.at_one_line and {*evidence.by} <= _COPIES:
        said += (
            " One line takes every step of the way: leave the stop between out of what it is told to go by."
        )
    return said


def fix(situation: Situation) -> Draft | None:
    """The straight way; None for a note that needs no change."""
    noted = situation.finding.severity == INFO and situation.finding.fix is None
    return None if noted else direct_path(situation)


def direct_path(situation: Situation) -> Draft | None:
    """The tensor goes to its end by itself: its function is called there, or what is between goes."""
    if situation.framework != "tensorflow":
        return _without_numpy(situation)
    if _hands_back(situation):
        return _called_in_scope(situation)
    # Run for each stop of a path, the one statement that makes both moves is the last one too.
    arrives_too = situation.evidence(Evidence).at_one_line and not situation.reads
    return None if arrives_too else _without_stop(situation)


def _without_numpy(situation: Situation) -> Draft | None:
    """``mx.nd.array(x.asnumpy(), ctx=y)``: the array itself is copied to the context."""
    source = situation.source
    for call in _calls(situation):
        match call:
            case ast.Call(
                args=[ast.Call(func=ast.Attribute(value=array, attr="asnumpy"), args=[])],
                keywords=[ast.keyword(arg="ctx", value=there)],
            ) if called(call) == "array":
                # What came from numpy had no gradient.
                cut = ".detach()" if source.function_of(call) or "record" in source.text else ""
                method = f"as_in_{context_attribute(source, call)}"
                return situation.replaced(
                    "Copies the array straight to the context, without numpy; one that is there already is"
                    " not copied, and the dtype stays the array's own.",
                    call,
                    f"{source.operand(array)}{cut}.{method}({source.code(there)})",
                )
    return None


def _without_stop(situation: Situation) -> Draft | None:
    """Drop an identity op between two devices; of a variable it is a copy that keeps the value."""
    source, words = situation.source, "Drops the stop between: the tensor goes to where it is used."
    if any(hop.producer_op in READS for hop in situation.hops):
        return None
    for call in _calls(situation):
        match call:
            case ast.Call(args=[tensor], keywords=[]) if (
                dotted(call.func) == f"{tensorflow(source, call)}.identity"
            ):
                code, stmt = source.code(tensor), source.statement_of(call)
                if not isinstance(stmt, ast.Assign) or [source.code(one) for one in stmt.targets] != [code]:
                    return situation.replaced(words, call, code)
                change = Change(source)
                change.drop(_with_its_scopes(source, stmt))
                return situation.draft(words, change)
    return None


def _calls(situation: Situation) -> list[ast.Call]:
    """The calls of the lines where the tensor leaves and where it comes, as far as these are in the file."""
    ends = [situation, *filter(None, map(situation.at, situation.evidence(Evidence).lines))]
    return [
        call
        for end in ends
        if end.file == situation.file
        for stmt in end.statements
        for call in calls_of(stmt)
    ]


def _with_its_scopes(source: Source, stmt: ast.stmt) -> ast.stmt:
    """A statement, or the device scopes that hold nothing else."""
    while isinstance(around := source.parents[stmt], ast.With) and len(around.body) == 1:
        if len(devices_of(around)) != len(around.items):
            break  # what else a block opens may do something by itself
        stmt = around
    return stmt


def _hands_back(situation: Situation) -> bool:
    """Whether what passes the default device is what a call of a function returns."""
    if situation.evidence(Evidence).result_of_a_call:
        return True
    between = [hop for hop in situation.hops if hop.op == "Identity" and not hop.cause.evidence.requested]
    calls = any("Call" in f"{hop.tensor}{hop.producer_op}" for hop in between)
    return calls and "identity" not in situation.source.lines[situation.line - 1]


def _called_in_scope(situation: Situation) -> Draft | None:
    """The call of the function in the scope of the device where its result goes on."""
    source, evidence = situation.source, situation.evidence(Evidence)
    stations, stmt = evidence.stations, next(iter(situation.simple), None)
    if stmt is None or not stations or has_strategy(situation) or len(evidence.ways or ()) > 1:
        return None  # of several GPUs in turn no one is the place for all
    device, here = stations[-1], situation.finding.site
    returned = {hop.dst for hop in situation.others if hop.site == here and hop.op == "_Retval"}
    if returned - {device} or any(hop.site == hop.producer_site for hop in situation.hops[:1]):
        return None  # the other results would come by way of this one's device
    stmt = _outermost(source, stmt)
    # What the function computes on another device without asking for it would go along.
    moves_others = any(not op.requested and op.assigned != device for op in situation.traced(stmt))
    if not calls_of(stmt) or later(stmt) or moves_others or scopes_around(source, stmt):
        return None
    if (change := under_device(situation, [stmt], device)) is None:
        return None
    words = (
        f"Calls the function in the scope of {device}, so that its result does not pass the default"
        " device; ops that it runs without a scope of their own go there too."
    )
    return situation.draft(words, change)


def _outermost(source: Source, stmt: ast.stmt) -> ast.stmt:
    """The call of the function of which the statement is all: what that returns would pass it next."""
    function = source.function_of(stmt)
    if function is None or function.body[ast.get_docstring(function) is not None :] != [stmt]:
        return stmt
    calls = [call for call in source.every(ast.Call) if called(call) == function.name]
    calling = source.statement_of(calls[0]) if len(calls) == 1 else None
    return stmt if calling is None or is_compound(calling) else calling


CAUSE = Cause(
    code="bounce",
    severity=WARNING,
    meaning=(
        "One tensor makes a round trip, or crosses the host to a third device, through ops that only move"
        " or reshape it, or through numpy where a checksum shows that nothing changed it. It is reported"
        " once, in place of its hops."
    ),
    example=EXAMPLE,
    sometimes="warning; note where it is rare or small",
    evidence=Evidence,
    because=because,
    advice=advice,
    line_advice=function_scopes.line_advice,
    fix=fix,
)
