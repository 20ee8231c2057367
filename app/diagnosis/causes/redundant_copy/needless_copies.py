"""Copies that need not be: of what is there already."""

from __future__ import annotations

import ast

from app.diagnosis.causes.redundant_copy.evidence import Evidence
from app.fixes.code.change import Change
from app.fixes.code.device_constants import constant_of
from app.fixes.code.device_notation import arrays
from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import own_nodes
from app.fixes.situation import Draft, Situation


def redundant_copy(situation: Situation) -> Draft | None:
    """``x.copyto(ctx)`` becomes ``x.as_in_context(ctx)``, which copies nothing that is there already."""
    source = situation.source
    if situation.evidence(Evidence).copied_before:
        return None
    for stmt in situation.statements:
        for node in own_nodes(stmt):
            match node:
                case ast.Call(func=ast.Attribute(attr="copyto") as move, args=[there]) if not isinstance(
                    stmt, ast.Expr
                ):
                    named = constant_of(source, there, node) or there
                case _:
                    continue
            path = dotted(there).rpartition(".")[2]
            if called(named) not in ("cpu", "gpu", "Context", "current_context") and path not in (
                "ctx",
                "context",
            ):
                return None  # with an array it fills that
            name, change = (
                f"as_in_{'ctx' if (arrays(source, stmt) or '').endswith('np') else 'context'}",
                Change(source),
            )
            end = source.span(move)[1]
            change.replace_span(end - len("copyto"), end, name)
            words = (
                f"{name} returns the array itself where it is there already: check that neither of the two"
                " names is changed in place afterwards."
            )
            return situation.draft(words, change.text())
    return None
