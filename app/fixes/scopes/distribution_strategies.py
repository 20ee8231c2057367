"""Whether a distribution strategy decides about devices: a scope around a call would go against it."""

from __future__ import annotations

import ast

from app.fixes.code.names import called
from app.fixes.situation import Situation
from app.views.naming import each

_OWN = "tensorflow/python/distribute/"
_NONE = f"{_OWN}distribute_lib.py"
"""Opens scopes where there is no strategy too, as for an optimizer's update of a variable."""


def has_strategy(situation: Situation) -> bool:
    """Whether the program makes a strategy, by the text of its files or by who opened its scopes."""
    for hop in (*situation.hops, *situation.others):
        known = hop.cause.evidence
        openers = [*each(known.scope_opener), *each(known.producer_scope_opener)]
        if any(one.startswith(_OWN) and not one.startswith(_NONE) for one in openers):
            return True
    return any(
        called(node).endswith("Strategy") or (isinstance(node, ast.withitem) and _is_scope(node))
        for _, source in situation.sources
        for node in ast.walk(source.tree)
    )


def _is_scope(item: ast.withitem) -> bool:
    """Whether it is ``with strategy.scope():``, however the strategy came there."""
    call = item.context_expr
    return called(call) == "scope" and isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
