"""Copies that need not be: of what is there already, and by way of the host."""

from __future__ import annotations

import ast

from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change
from app.fixes.code.device_notation import arrays, context_named, tensorflow
from app.fixes.code.names import assignment_of, called, dotted
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.paths.repeated_uploads import hoisted
from app.fixes.situation import Draft, Situation

_MOVES = frozenset({"as_in_context", "as_in_ctx", "copyto"})
_TAKES = frozenset({"numpy", "asnumpy"})


def redundant_copy(situation: Situation) -> Draft | None:
    """`copyto` becomes `as_in_context`, a copy made again and again is made once, `identity` goes."""
    source, calls = situation.source, set(map(str, situation.evidence("call")))
    for stmt in situation.statements:
        for node in own_nodes(stmt):
            if not isinstance(node, ast.Call) or (calls and called(node) not in calls | {"identity"}):
                continue
            if called(node) not in _MOVES | {"copy", "identity"}:
                continue
            change = Change(source)
            if situation.evidence("copied_before"):
                text = hoisted(source, stmt, node, "copied")
                if text is not None:
                    return situation.draft(
                        "Copies once, before the loop; check that nothing changes it there.", text
                    )
                continue
            if (
                called(node) == "copyto"
                and isinstance(node.func, ast.Attribute)
                and _is_context(source, node)
            ):
                name = "as_in_ctx" if (arrays(source, stmt) or "").endswith("np") else "as_in_context"
                end = source.span(node.func)[1]
                change.replace_span(end - len("copyto"), end, name)
                words = (
                    f"{name} returns the array itself where it is there already: check that neither of the"
                    " two names is changed in place afterwards."
                )
                return situation.draft(words, change.text())
            if (
                called(node) == "identity"
                and dotted(node.func) == f"{tensorflow(source, stmt)}.identity"
                and len(node.args) == 1
                and not any(hop.producer_op in READS for hop in situation.hops)
            ):
                change.replace(node, source.code(node.args[0]))
                return situation.draft(
                    "Drops the copy: tensors do not change; of a variable keep it.", change.text()
                )
    return None


def _is_context(source: Source, call: ast.Call) -> bool:
    """Whether `copyto` is given a context: with an array it fills that."""
    if len(call.args) != 1 or isinstance(source.parents[call], ast.Expr):
        return False
    argument = call.args[0]
    if context_named(argument) or called(argument) in ("cpu", "gpu", "Context"):
        return True
    if isinstance(argument, ast.Attribute):
        return argument.attr in ("context", "ctx")
    if not isinstance(argument, ast.Name):
        return False
    made = assignment_of(source, argument.id, call)
    if made is not None and made.value is not None:
        return called(made.value) in ("cpu", "gpu", "Context", "current_context")
    return argument.id in ("ctx", "context")
