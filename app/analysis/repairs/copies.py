"""Copies that need not be: of what is there already, and by way of the host."""

from __future__ import annotations

import ast

from app.analysis.repairs.change import Change
from app.analysis.repairs.names import assignment_of, called, dotted, keyword
from app.analysis.repairs.notation import arrays, context_named, tensorflow
from app.analysis.repairs.situation import Draft, Situation
from app.analysis.repairs.source import Source, own_nodes
from app.analysis.repairs.uploads import hoisted

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
            ):
                change.replace(node, source.code(node.args[0]))
                return situation.draft(
                    "Drops the copy: tensors do not change; of a variable keep it.", change.text()
                )
    return None


def bounce(situation: Situation) -> Draft | None:
    """The tensor goes to its end by itself, without the detour."""
    source = situation.source
    lines = [str(site).rpartition(":") for site in situation.evidence("lines")]
    here = [int(line) for file, _, line in lines if file == situation.file and line.isdigit()]
    for line in dict.fromkeys([situation.line, *here]):
        for stmt in source.statements_at(line):
            for node in own_nodes(stmt):
                change = Change(source)
                if isinstance(node, ast.Call) and (words := _direct(situation, source, change, stmt, node)):
                    return situation.draft(words, change.text())
    return None


def round_trip(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``mx.nd.array(x.asnumpy(), ctx=y)``: Python takes the value only to send it again."""
    for node in own_nodes(stmt):
        if not isinstance(node, ast.Call) or called(node) not in ("array", "constant", "convert_to_tensor"):
            continue
        change = Change(situation.source)
        if words := _direct(situation, situation.source, change, stmt, node):
            return situation.draft(words, change.text())
    return None


def _direct(
    situation: Situation, source: Source, change: Change, stmt: ast.stmt, call: ast.Call
) -> str | None:
    """Make a call that brings something back take it from where it was before the detour."""
    if situation.framework == "tensorflow":
        tf = tensorflow(source, stmt)
        if tf and dotted(call.func) == f"{tf}.identity" and len(call.args) == 1:
            change.replace(call, source.code(call.args[0]))
            return "Drops the stop between: the tensor goes to where it is used; of a variable keep the copy."
        made = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if (
            tf is None
            or made is None
            or dotted(call.func) not in (f"{tf}.constant", f"{tf}.convert_to_tensor")
        ):
            return None
        tensor = _before_taking(source, made, stmt, change)
        if tensor is None:
            return None
        change.replace(call, f"{tf}.identity({tensor})")
        return "Passes the tensor on as it is, on its device; check that no device scope around it is needed."
    return _direct_array(source, change, stmt, call)


def _direct_array(source: Source, change: Change, stmt: ast.stmt, call: ast.Call) -> str | None:
    if called(call) in ("as_in_context", "as_in_ctx") and isinstance(call.func, ast.Attribute):
        way = _made_by(source, call.func.value, stmt)
        if (
            way is None
            or called(way) not in _MOVES
            or not isinstance(way.func, ast.Attribute)
            or not way.args
        ):
            return None
        if context_named(way.args[0]) is None and not isinstance(way.args[0], ast.Name):
            return None
        change.replace(call.func.value, source.code(way.func.value))
        _drop_if_unused(source, change, call.func.value)
        return "Copies straight to where the array is used, without the stop between."
    there = keyword(call, "ctx")
    if called(call) == "array" and there is not None and len(call.args) == 1 and len(call.keywords) == 1:
        array = _before_taking(source, call.args[0], stmt, change)
        if array is None:
            return None
        name = "as_in_ctx" if (arrays(source, stmt) or "").endswith("np") else "as_in_context"
        change.replace(call, f"{array}.{name}({source.code(there.value)})")
        return "Copies straight to the context, without numpy; the dtype stays the array's own."
    return None


def _before_taking(source: Source, made: ast.expr, stmt: ast.stmt, change: Change) -> str | None:
    """The tensor whose value an expression is, by ``x.numpy()`` in it or a line above."""
    way = _made_by(source, made, stmt)
    if way is None or called(way) not in _TAKES or way.args or not isinstance(way.func, ast.Attribute):
        return None
    _drop_if_unused(source, change, made)
    return source.operand(way.func.value)


def _made_by(source: Source, node: ast.expr, stmt: ast.stmt) -> ast.Call | None:
    """The call that made what an expression is: itself, or what its name was assigned just before."""
    if isinstance(node, ast.Call):
        return node
    made = assignment_of(source, node.id, stmt) if isinstance(node, ast.Name) else None
    near = made is not None and source.block_of(made) is source.block_of(stmt)
    return made.value if near and made is not None and isinstance(made.value, ast.Call) else None


def _drop_if_unused(source: Source, change: Change, node: ast.expr) -> None:
    """Take the assignment of a name out that nothing else uses."""
    if not isinstance(node, ast.Name):
        return
    made = assignment_of(source, node.id, node)
    used = sum(isinstance(one, ast.Name) and one.id == node.id for one in ast.walk(source.tree))
    alone = made is not None and source.lines[made.lineno - 1].strip() == source.code(made).partition("\n")[0]
    if made is not None and alone and used == 2:
        change.drop(made)


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
