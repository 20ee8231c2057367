"""Compiled clusters: the same function without XLA, to see inside."""

from __future__ import annotations

import ast

from app.diagnosis.causes.xla_opaque.evidence import Evidence
from app.fixes.code.device_notation import alone
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
    asked = {
        call: option.value
        for call in source.every(ast.Call)
        if (option := keyword(call, "jit_compile", "experimental_compile")) is not None
        if not (isinstance(option.value, ast.Constant) and option.value.value in (False, None))
    }
    around = [value for call, value in asked.items() if _about(source, call, situation.line)]
    chosen = alone(around or asked.values())
    words = _SCOPES_COUNT if situation.evidence(Evidence).not_followed else _WORDS
    return situation.replaced(words, chosen, "False") if chosen is not None else None


def _about(source: Source, call: ast.Call, line: int) -> bool:
    """Whether the line is in the call, or in the function that the call decorates."""
    parent = source.parents[call]
    if isinstance(parent, Function) and call in parent.decorator_list:
        return first_line(parent) <= line <= (parent.end_lineno or 0)
    return call.lineno <= line <= (call.end_lineno or 0)
