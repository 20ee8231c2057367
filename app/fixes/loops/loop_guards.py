"""Whether a statement in a loop happens in some rounds only already: "every N rounds" more may be never."""

from __future__ import annotations

import ast
import re

from app.fixes.code.names import called, dotted
from app.fixes.code.parsed_source import Function, Loop, Source
from app.fixes.loops.periods import has_condition
from app.fixes.situation import Situation

_DECIDES = re.compile(r"(?:^|_)(?:if|every|when|only|unless|due|should)(?:_|$)")
"""In the name of what decides when: ``record_if``, ``every_n_steps``, ``log_due``."""


def thinned(situation: Situation, node: ast.AST, loop: Loop) -> bool:
    """Whether something decides by itself in which rounds the node does what it does.

    An `if`, or a `continue` before it, a block of a library's own, or where its function is called.
    """
    source = situation.source
    if has_condition(source, node, loop) or _skipped(source, node, loop) or _now_and_then(source, node):
        return True
    function = source.function_of(node)
    return function is not None and _called_now_and_then(situation, function)


def _now_and_then(source: Source, node: ast.AST) -> bool:
    """Whether it stands in a block that decides, or in an `if` that counts."""
    child = node
    for parent in source.ancestors(node):
        if isinstance(parent, ast.With | ast.AsyncWith) and child in parent.body:
            if any(
                _named_so(one) and not _always(one) for one in (item.context_expr for item in parent.items)
            ):
                return True
        elif isinstance(parent, ast.If) and child is not parent.test and _counts(parent.test):
            return True
        child = parent
    return False


def _skipped(source: Source, node: ast.AST, loop: Loop) -> bool:
    """Whether a `continue` above it in the loop leaves rounds out by a count."""
    line = getattr(node, "lineno", 0)
    return any(
        isinstance(one, ast.If)
        and one.lineno < line
        and _counts(one.test)
        and any(isinstance(part, ast.Continue) for part in one.body)
        and source.loop_of(one) is loop
        for one in ast.walk(loop)
    )


def _called_now_and_then(situation: Situation, function: Function) -> bool:
    files = dict.fromkeys([situation.file, *situation.files])
    for source in (opened for file in files if (opened := situation.opened(file)) is not None):
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and called(node) == function.name and _now_and_then(source, node):
                return True
    return False


def _counts(test: ast.expr) -> bool:
    """``step % 10 == 0``, ``every_ten(step)``."""
    return _named_so(test) or any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(test)
    )


def _always(node: ast.expr) -> bool:
    """``record_if(True)``."""
    given = node.args if isinstance(node, ast.Call) else []
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is True


def _named_so(node: ast.expr) -> bool:
    names = (called(part) if isinstance(part, ast.Call) else dotted(part) for part in ast.walk(node))
    return any(_DECIDES.search(name.rpartition(".")[2]) for name in names if name)
