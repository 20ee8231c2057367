"""A function that returns a taken value, called in a loop: it returns the tensor, the callers take it."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change
from app.fixes.code.names import called
from app.fixes.code.parsed_source import own_nodes
from app.fixes.flow.host_reads import Take, takes
from app.fixes.loops import kept_values
from app.fixes.situation import Draft, Situation


def returned(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``return float(loss)`` becomes ``return loss``; callers in the file take the value."""
    source = situation.source
    function = source.function_of(stmt)
    if not isinstance(stmt, ast.Return) or function is None or stmt.value is None:
        return None
    parts = stmt.value.elts if isinstance(stmt.value, ast.Tuple) else [stmt.value]
    found = [take for take in takes(situation, stmt) if any(take.node is part for part in parts)]
    if not found or len(found) != len(takes(situation, stmt)):
        return None
    ends = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
    if sum(source.function_of(one) is function for one in ends) > 1:
        return None  # it would return numbers in some cases and tensors in others
    change = Change(source)
    for take in found:
        change.replace(take.node, source.code(take.value))
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    callers = [call for call in calls if called(call) == function.name]
    # Where no loop of this file calls it, the wait would only move to a line that is not known.
    if not any(source.loop_of(call) for call in callers) or stmt.value is not found[0].node:
        return None
    if not all(_taken_by_caller(situation, change, call, found[0]) for call in callers):
        return None
    words = (
        "Returns the tensor, and its callers take the value, after their loops; check those in other files."
    )
    return situation.draft(words, change.text())


def _taken_by_caller(situation: Situation, change: Change, call: ast.Call, take: Take) -> bool:
    """Whether a caller can take the value after its loop, which is then asked for."""
    source = situation.source
    stmt, loop = source.statement_of(call), source.loop_of(call)
    if stmt is None or any(isinstance(one, ast.Await) for one in own_nodes(stmt)):
        return False
    taken = Take(call, call, take.before, take.after, take.kind)
    if loop is None:
        change.replace(call, taken.of(source.code(call)))
        return True
    pair = kept_values.appended_to(stmt)
    if pair is not None and pair[1] is call:
        return kept_values.keep_in_list(situation, source, change, stmt, loop, taken) is not None
    if isinstance(stmt, ast.AugAssign) and stmt.value is call:
        return kept_values.add_up(situation, source, change, stmt, loop, taken) is not None
    return isinstance(stmt, ast.Expr) and stmt.value is call
