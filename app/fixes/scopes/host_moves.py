"""Fixes that would have the host do a GPU's work: what they save in transfers they lose many times over."""

from __future__ import annotations

import ast
from collections import Counter

from app.facts.devices import is_gpu
from app.fixes.code.device_notation import (
    constant_of,
    context_named,
    scope_arguments,
    scopes_around,
    tf_named,
)
from app.fixes.code.parsed_source import Source, is_compound
from app.fixes.situation import Draft, Situation


def leaves_gpu(situation: Situation, draft: Draft) -> bool:
    """Whether a change would have something run on the host that could run on a GPU of the run.

    It names the host in one more scope, or brings a statement into one.
    """
    if not any(map(is_gpu, situation.devices)):
        return False
    for file, changed in draft.texts.items():
        before, after = Source(situation.text_of(file) or ""), Source(changed)
        moved_in = (_scoped(after, True) - _scoped(before, True)) & _scoped(before, False)
        if _hosts(after) - _hosts(before) or moved_in:
            return True
    return False


def _hosts(source: Source) -> Counter[str]:
    """How often each way to name the host is used where that decides what runs there."""
    found = Counter("scope" for argument in scope_arguments(source) if _is_host(source, argument))
    found["context"] = sum(context_named(call) == "cpu:0" for call in source.every(ast.Call))
    return found


def _scoped(source: Source, on_host: bool) -> Counter[str]:
    """The plain statements, as code, whose innermost device scope names the host, or those of which not."""
    return Counter(
        ast.unparse(stmt)
        for stmt in source.every(ast.stmt)
        if not is_compound(stmt)
        if any(_is_host(source, named) for named in scopes_around(source, stmt)[:1]) is on_host
    )


def _is_host(source: Source, argument: ast.expr) -> bool:
    return tf_named(constant_of(source, argument, argument)) == "cpu:0"
