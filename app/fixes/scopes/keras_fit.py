"""Keras' own loop, and layers that it calls: a scope around one of their lines would move more than that."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import devices_of
from app.fixes.code.names import called
from app.fixes.code.parsed_source import is_compound
from app.fixes.situation import Situation

_LOOPS = frozenset({"fit", "train_on_batch"})


def trains_a_model(situation: Situation) -> bool:
    """Whether the line calls Keras' loop: its scope would move callbacks, metrics and logs along."""
    return any(
        called(node) in _LOOPS
        for stmt in situation.statements
        for node in ast.walk(stmt)
        if not is_compound(stmt)
    )


def of_a_layer(situation: Situation) -> bool:
    """Whether the line is in a layer's or model's `call`, in a class that opens no device scope."""
    source = situation.source
    for stmt in situation.statements[:1]:
        function = source.function_of(stmt)
        holder = source.parents.get(function) if function is not None else None
        if function is None or function.name != "call" or not isinstance(holder, ast.ClassDef):
            return False
        return not any(isinstance(one, ast.With) and devices_of(one) for one in ast.walk(holder))
    return False
