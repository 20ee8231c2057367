"""Copies that need not be: of what is there already."""

from __future__ import annotations

import ast

from app.diagnosis.causes.redundant_copy.evidence import Evidence
from app.fixes.code.device_notation import constant_of, context_attribute
from app.fixes.code.names import called, calls_of, dotted
from app.fixes.situation import Draft, Situation

_CONTEXTS = frozenset({"cpu", "gpu", "Context", "current_context"})


def needless_copy(situation: Situation) -> Draft | None:
    """``x.copyto(ctx)`` becomes ``x.as_in_context(ctx)``, which copies nothing that is there already."""
    source = situation.source
    if situation.evidence(Evidence).copied_before:
        return None
    values = (stmt for stmt in situation.statements if not isinstance(stmt, ast.Expr))
    for call in (call for stmt in values for call in calls_of(stmt)):
        match call:
            case ast.Call(func=ast.Attribute(attr="copyto") as move, args=[there]):
                named = constant_of(source, there, call) or there
                path = dotted(there).rpartition(".")[2]
                if called(named) not in _CONTEXTS and path not in ("ctx", "context"):
                    return None  # with an array it fills that
                name = f"as_in_{context_attribute(source, call)}"
                words = (
                    f"{name} returns the array itself where it is there already: check that neither of the"
                    " two names is changed in place afterwards."
                )
                return situation.replaced(words, move, source.code(move).removesuffix("copyto") + name)
    return None
