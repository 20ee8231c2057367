"""Who calls a function, and whether a tape watches it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from app.fixes.code.device_notation import blocks_around
from app.fixes.code.names import called
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Situation

_Files = Sequence[tuple[str, Source]]


def caller_with_tape(situation: Situation, stmt: ast.stmt) -> tuple[Situation, ast.stmt] | None:
    """The call of the statement's function, where a tape around that watches it; None for several.

    Else the statement itself. The gradients are computed where the call is: were only the forward ops moved,
    all that the gradients need of them would come back to the default device.
    """
    function = situation.source.function_of(stmt)
    files = dict.fromkeys([situation.file, *situation.files])
    opened = [(file, source) for file in files if (source := situation.opened(file)) is not None]
    if function is None or _tapes(function) or not any(_tapes(source.tree) for _, source in opened):
        return situation, stmt
    if not _watched(opened, function.name, frozenset()):
        return situation, stmt
    calls = _calls_of(opened, function.name)
    if len(calls) != 1 or (calling := calls[0][1].statement_of(calls[0][2])) is None:
        return None
    file, source, call = calls[0]
    if not _in_tape(source, call):
        return None
    return dataclasses.replace(situation, file=file, source=source, line=calling.lineno), calling


def _calls_of(files: _Files, name: str) -> list[tuple[str, Source, ast.Call]]:
    return [
        (file, source, node)
        for file, source in files
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and called(node) == name
    ]


def _watched(files: _Files, name: str, seen: frozenset[str]) -> bool:
    """Whether a tape may be around a call of a function; of one that nothing calls by its name, it may."""
    calls = _calls_of(files, name)
    for _, source, call in calls:
        if _in_tape(source, call):
            return True
        caller = source.function_of(source.statement_of(call) or source.tree)
        if caller is None or _tapes(caller) or caller.name in seen:
            continue
        if _watched(files, caller.name, seen | {name}):
            return True
    return not calls


def _in_tape(source: Source, node: ast.AST) -> bool:
    return any(
        called(item.context_expr) == "GradientTape"
        for block in blocks_around(source, node)
        for item in block.items
    )


def _tapes(node: ast.AST) -> bool:
    return any(called(one) == "GradientTape" for one in ast.walk(node))
