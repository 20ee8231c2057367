"""Compiled clusters: the same function without XLA, to see inside."""

from __future__ import annotations

import ast

from app.diagnosis.causes.xla_opaque.evidence import Evidence
from app.fixes.code.change import Change
from app.fixes.code.names import keyword
from app.fixes.code.parsed_source import Function, Source, first_line
from app.fixes.situation import Draft, Situation

_WORDS = (
    "Runs the ops one by one, so that their devices show; times and rounding differ: change it back after."
)

_SCOPES_COUNT = (
    "Runs the ops one by one, where the scopes inside ask for; times and rounding differ. To keep XLA and the"
    " scopes, compile one function for each device."
)


def without_xla(situation: Situation) -> Draft | None:
    """``jit_compile=False`` where the line, the function around it, or else the only place asks for XLA."""
    source = situation.source
    asked = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and _asks(node)]
    around = [node for node in asked if _about(source, node, situation.line)]
    chosen = around or asked
    if len(chosen) != 1:
        return None
    change, named = Change(source), keyword(chosen[0], "jit_compile", "experimental_compile")
    assert named is not None
    change.replace(named.value, "False")
    words = _SCOPES_COUNT if situation.evidence(Evidence).not_followed else _WORDS
    return situation.draft(words, change.text())


def _asks(call: ast.Call) -> bool:
    named = keyword(call, "jit_compile", "experimental_compile")
    if named is None:
        return False
    return not (isinstance(named.value, ast.Constant) and named.value.value in (False, None))


def _about(source: Source, call: ast.Call, line: int) -> bool:
    """Whether the line is in the call, or in the function that the call decorates."""
    if call.lineno <= line <= (call.end_lineno or 0):
        return True
    parent = source.parents.get(call)
    return (
        isinstance(parent, Function)
        and call in parent.decorator_list
        and first_line(parent) <= line <= (parent.end_lineno or 0)
    )
