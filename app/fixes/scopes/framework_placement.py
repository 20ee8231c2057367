"""Where a framework decides about devices by itself: a scope around a call would go against it."""

from __future__ import annotations

import ast

from app.fixes.code.device_notation import devices_of
from app.fixes.code.names import called
from app.fixes.situation import Situation
from app.views.naming import each

_OWN = "tensorflow/python/distribute/"
_NONE = f"{_OWN}distribute_lib.py"
"""Opens scopes where there is no strategy too, as for an optimizer's update of a variable."""
_LOOPS = frozenset({"fit", "train_on_batch"})


def has_strategy(situation: Situation) -> bool:
    """Whether the program creates a strategy, by the text of its files or by who opened its scopes."""
    for hop in (*situation.hops, *situation.others):
        known = hop.cause.evidence
        openers = [*each(known.scope_opener), *each(known.producer_scope_opener)]
        if any(one.startswith(_OWN) and not one.startswith(_NONE) for one in openers):
            return True
    # ``with strategy.scope():``, however the strategy came there, is one too.
    return any(
        called(call).endswith("Strategy")
        or (
            called(call) == "scope"
            and isinstance(call.func, ast.Attribute)
            and isinstance(source.parents[call], ast.withitem)
        )
        for _, source in situation.sources
        for call in source.every(ast.Call)
    )


def trains_a_model(situation: Situation) -> bool:
    """Whether the line calls Keras' loop: its scope would move callbacks, metrics and logs along."""
    return any(called(node) in _LOOPS for stmt in situation.simple for node in ast.walk(stmt))


def of_a_layer(situation: Situation) -> bool:
    """Whether the line is in a layer's or model's `call`, in a class that opens no device scope."""
    source = situation.source
    function = source.function_of(situation.statements[0]) if situation.statements else None
    holder = source.parents[function] if function is not None and function.name == "call" else None
    return isinstance(holder, ast.ClassDef) and not any(
        isinstance(one, ast.With) and devices_of(one) for one in ast.walk(holder)
    )
