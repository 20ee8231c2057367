"""Calls of a library that wait for a value only because an option of theirs is left as it is."""

from __future__ import annotations

import ast

from app.fixes.clocks.measurements import clock_after
from app.fixes.code.change import Change
from app.fixes.code.names import full_name, keyword
from app.fixes.code.parsed_source import own_nodes
from app.fixes.situation import Draft, Situation

_CLIPS = "mxnet.gluon.utils.clip_global_norm"
_CLIPPING = "mxnet/gluon/utils.py:"
_OPTION = "check_isfinite"
_GIVEN = "with check_isfinite=False it gives it as an NDArray, and nothing waits; NaN is no longer warned of"


def clipped_unchecked(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``gluon.utils.clip_global_norm(grads, 1)``, whose result nobody takes, is told not to check it."""
    call = stmt.value if isinstance(stmt, ast.Expr) else None
    if not isinstance(call, ast.Call) or _waiting(situation) is not call or clock_after(situation):
        return None
    if len(call.args) > 2 or any(one.arg in (None, _OPTION) for one in call.keywords):
        return None
    if any(isinstance(one, ast.Starred) for one in call.args):
        return None
    change = Change(situation.source)
    change.add_argument(call, f"{_OPTION}=False")
    words = (
        "Clips without a check of the norm: it then returns an NDArray, and nothing waits; NaN is no longer"
        " warned of."
    )
    return situation.draft(words, change.text())


def of_clipping(situation: Situation) -> str | None:
    """What to say where the norm that the clipping returns is used as a number; None for other calls."""
    if _waiting(situation) is None:
        return None
    return (
        f"clip_global_norm takes the norm to check it and to return it as a number: {_GIVEN}. Take the"
        " number then only where it is needed, as seldom as that allows."
    )


def _waiting(situation: Situation) -> ast.Call | None:
    """The one clipping of the line, if it is what takes all the values, and checks them."""
    through = {(hop.via or "").startswith(_CLIPPING) for hop in situation.hops}
    calls = [
        node
        for stmt in situation.statements
        for node in own_nodes(stmt)
        if isinstance(node, ast.Call) and full_name(situation.source, node.func, node) == _CLIPS
    ]
    if situation.framework != "mxnet" or through != {True} or len(calls) != 1:
        return None
    checks = keyword(calls[0], _OPTION)
    off = checks is not None and isinstance(checks.value, ast.Constant) and not checks.value.value
    return None if off else calls[0]
