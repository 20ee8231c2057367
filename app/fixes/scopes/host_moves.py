"""Fixes that would have the host do a GPU's work: what they save in transfers they lose many times over."""

from __future__ import annotations

import ast
from collections import Counter

from app.facts.devices import is_gpu
from app.fixes.code.device_constants import constant_of
from app.fixes.code.device_notation import blocks_around, context_named, devices_of, scope_arguments, tf_named
from app.fixes.code.parsed_source import Source, is_compound
from app.fixes.situation import Draft, Situation


def leaves_gpu(situation: Situation, draft: Draft) -> bool:
    """Whether a change would have something run on the host that could run on a GPU of the run.

    It names the host in one more scope, or brings a statement into one.
    """
    if not any(map(is_gpu, situation.devices)):
        return False
    for file, changed in draft.texts.items():
        text = situation.text_of(file) or ""
        before, after = Source(text), Source(changed)
        moved_in = (_scoped(after, True) - _scoped(before, True)) & _scoped(before, False)
        if _hosts(after) - _hosts(before) or moved_in:
            return True
    return False


def _hosts(source: Source) -> Counter[str]:
    """How often each way to name the host is used where that decides what runs there."""
    found = Counter("scope" for argument in scope_arguments(source) if _device(source, argument) == "cpu:0")
    found["context"] = sum(context_named(node) == "cpu:0" for node in ast.walk(source.tree))
    return found


def _scoped(source: Source, on_host: bool) -> Counter[str]:
    """The plain statements, as code, whose innermost device scope names the host, or those of which not."""
    found: Counter[str] = Counter()
    for stmt in ast.walk(source.tree):
        if isinstance(stmt, ast.stmt) and not is_compound(stmt):
            named = [argument for block in blocks_around(source, stmt) for argument in devices_of(block)]
            if (bool(named) and _device(source, named[0]) == "cpu:0") is on_host:
                found[ast.unparse(stmt)] += 1
    return found


def _device(source: Source, argument: ast.expr) -> str | None:
    return tf_named(constant_of(source, argument, argument))
