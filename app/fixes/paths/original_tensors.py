"""A tensor that something brought back: taken from where it was before it left."""

from __future__ import annotations

import ast
from typing import TypeGuard

from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change, Overlap, unfolded
from app.fixes.code.device_notation import arrays, blocks_around, context_named, devices_of, tensorflow
from app.fixes.code.names import assignment_of, bound_in, called, dotted, read_in, root_of
from app.fixes.code.parsed_source import Source, is_compound, own_nodes
from app.fixes.flow.source_tensors import before_taking, drop_if_unused, maybe_taped, reshaped, still
from app.fixes.situation import Draft, Situation
from runners.python_source import parse

_MOVES = frozenset({"as_in_context", "as_in_ctx", "copyto"})
_MAYBE_VARIABLES = READS | {"", "?", "Python", "_Arg"}
"""Types of producers whose results may be variables, as far as the run tells."""
_SHAPES = frozenset({"reshape", "expand_dims", "squeeze", "transpose", "flatten", "swapaxes"})
"""Methods of arrays whose results hold the same values."""


def round_trip(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``mx.nd.array(x.asnumpy(), ctx=y)``: Python takes the value only to send it again."""
    for node in own_nodes(stmt):
        if not isinstance(node, ast.Call) or called(node) not in ("array", "constant", "convert_to_tensor"):
            continue
        change = Change(situation.source)
        if words := direct(situation, change, stmt, node):
            return situation.draft(words, change.text())
    return None


def direct(situation: Situation, change: Change, stmt: ast.stmt, call: ast.Call) -> str | None:
    """Make a call that brings something back take it from where it was before the detour."""
    source = situation.source
    if situation.framework != "tensorflow":
        return _direct_array(source, change, stmt, call)
    tf = tensorflow(source, stmt)
    if tf is None or len(call.args) != 1 or call.keywords:
        return None
    if dotted(call.func) == f"{tf}.identity":
        return _without_stop(situation, change, stmt, call)
    if dotted(call.func) in (f"{tf}.constant", f"{tf}.convert_to_tensor"):
        return _without_python(situation, change, stmt, call, tf)
    return None


def _without_stop(situation: Situation, change: Change, stmt: ast.stmt, call: ast.Call) -> str | None:
    """Drop an identity op between two devices."""
    if any(hop.producer_op in READS for hop in situation.hops):
        return None  # of a variable it is a copy that keeps the value
    if _put(situation.source, change, stmt, call, situation.source.code(call.args[0])):
        return "Drops the statement, which is but a stop between: the tensor goes to where it is used."
    return "Drops the stop between: the tensor goes to where it is used."


def _without_python(
    situation: Situation, change: Change, stmt: ast.stmt, call: ast.Call, tf: str
) -> str | None:
    """Use the tensor whose value Python reads, instead of a new one with that value."""
    source = situation.source
    shaped = reshaped(source, call.args[0])
    if shaped is not None:
        taped = maybe_taped(source, stmt)
        new = f"{tf}.reshape({source.code(shaped[0])}, {source.code(shaped[1])})"
        change.replace(call, f"{tf}.stop_gradient({new})" if taped else new)
        return "Reshapes the tensor where it is, without a way through Python; its dtype stays its own."
    tensor = before_taking(source, call.args[0], stmt, change)
    if tensor is None:
        return None
    if maybe_taped(source, stmt):
        change.replace(call, f"{tf}.stop_gradient({tensor})")  # what came from Python had no gradient
    elif situation.evidence("tensor_again_at") and not _is_result(situation):
        return None  # a copy in no scope would pass the default device again
    elif _lands_there(situation, stmt) or not _is_result(situation):
        change.replace(call, f"{tf}.identity({tensor})")
    elif _put(source, change, stmt, call, tensor):
        return "Drops the statement, a way through Python: the tensor is used as it is, in its own dtype."
    return "Passes the tensor on as it is, without a way through Python; its dtype stays its own."


def _put(source: Source, change: Change, stmt: ast.stmt, call: ast.Call, text: str) -> bool:
    """Put code in a call's place; where only ``x = x`` were left, drop the statement: whether it was."""
    target = stmt.targets[0] if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 else None
    whole = isinstance(stmt, ast.Assign) and stmt.value is call
    if not whole or not isinstance(target, ast.Name) or target.id != text:
        change.replace(call, text)
        return False
    if unfolded(source, stmt)[0] is not source:
        raise Overlap
    dropped = stmt
    while isinstance(around := source.parents[dropped], ast.With) and len(around.body) == 1:
        if len(devices_of(around)) != len(around.items):
            break  # what else a block opens may do something by itself
        dropped = around
    change.drop(dropped)
    return True


def _lands_there(situation: Situation, stmt: ast.stmt) -> bool:
    """Whether a device scope around the statement is where its result is used.

    By an op on another device the tensor would only take the next detour.
    """
    if not any(devices_of(block) for block in blocks_around(situation.source, stmt)):
        return False
    lines = {f"{situation.file}:{line}" for line in range(stmt.lineno, (stmt.end_lineno or 0) + 1)}
    return not any(
        hop.producer_site in lines and hop.site not in lines and hop.kind != "pull" and hop.src != hop.dst
        for hop in (*situation.hops, *situation.others)
    )


def _is_result(situation: Situation) -> bool:
    """Whether what Python takes is certainly the result of an op: of a variable a copy keeps the value.

    A variable's own ``numpy()`` takes it from an Identity that it makes at the same line.
    """
    pulls = [hop for hop in situation.hops if hop.kind == "pull"]
    return bool(pulls) and not any(
        hop.producer_op in _MAYBE_VARIABLES
        or (hop.producer_op == "Identity" and hop.producer_site in (None, hop.site))
        for hop in pulls
    )


def _direct_array(source: Source, change: Change, stmt: ast.stmt, call: ast.Call) -> str | None:
    name = "as_in_ctx" if (arrays(source, stmt) or "").endswith("np") else "as_in_context"
    match call:
        case ast.Call(func=ast.Attribute() as move, args=[_]) if move.attr in _MOVES:
            return _copied_straight(source, change, stmt, move, name)
        case ast.Call(args=[_], keywords=[ast.keyword("ctx")]) if called(call) == "array":
            return _without_numpy(source, change, stmt, call, name)
    return None


def _copied_straight(
    source: Source, change: Change, stmt: ast.stmt, move: ast.Attribute, name: str
) -> str | None:
    """Copy an array from where it was before an earlier copy."""
    if move.attr == "copyto" and isinstance(stmt, ast.Expr):
        return None  # it fills an array that is there
    before = _before_moving(source, move.value, stmt, change)
    if before is None:
        return None
    change.replace(move.value, before)
    if move.attr == "copyto":  # a copy to where it is were no better
        if _changed_in_place(source, stmt, before):
            return None
        end = source.span(move)[1]
        change.replace_span(end - len("copyto"), end, name)
    return "Copies straight to where the array is used, without the stop between."


def _without_numpy(source: Source, change: Change, stmt: ast.stmt, call: ast.Call, name: str) -> str | None:
    """Copy the array that numpy reads to the context, instead of a new array of that value."""
    value, there = call.args[0], call.keywords[0].value
    shaped = reshaped(source, value)
    if shaped is not None and not all(map(_plain_size, shaped[1].elts)):
        return None  # other numbers below 1 mean something of their own to MXNet
    array = (
        f"{source.operand(shaped[0])}.reshape({source.code(shaped[1])})"
        if shaped is not None
        else before_taking(source, value, stmt, change)
    )
    if array is None:
        return None
    cut = _maybe_recorded(source, stmt)  # what came from numpy had no gradient
    changed = _changed_in_place(source, stmt, array)
    move = "copyto" if changed else name
    change.replace(call, f"{array}{'.detach()' if cut else ''}.{move}({source.code(there)})")
    alias = "" if changed else "; an array that is there already is not copied"
    return f"Goes straight to the context, without numpy{alias}; the dtype stays the array's own."


def _changed_in_place(source: Source, stmt: ast.stmt, before: str) -> bool:
    """Whether one of the two names that may stand for one array then is changed in place anywhere."""
    names = bound_in(stmt) | read_in(parse(before))
    return any(
        root_of(one.target if isinstance(one, ast.AugAssign) else one) in names
        for one in ast.walk(source.tree)
        if isinstance(one, ast.AugAssign)
        or (isinstance(one, ast.Attribute | ast.Subscript) and not isinstance(one.ctx, ast.Load))
    ) or any(root_of(one.value) in names for one in ast.walk(source.tree) if _filled(one))


def _filled(node: ast.AST) -> TypeGuard[ast.keyword]:
    return isinstance(node, ast.keyword) and node.arg == "out"


def _maybe_recorded(source: Source, stmt: ast.stmt) -> bool:
    """Whether autograd may record the statement, or then what its result goes into."""
    return source.function_of(stmt) is not None or "record" in source.text


def _before_moving(source: Source, node: ast.expr, stmt: ast.stmt, change: Change) -> str | None:
    """Code for what an expression is made of, by no more than a copy to another context; None for others."""
    inner = _shaped(node)
    if isinstance(inner, ast.Call) and called(inner) in _MOVES:
        return _without(source, node, inner)
    made = assignment_of(source, inner.id, stmt) if isinstance(inner, ast.Name) else None
    if made is None or made.value is None or not still(source, made, stmt, made.value):
        return None
    way = _shaped(made.value)
    if not isinstance(way, ast.Call) or called(way) not in _MOVES:
        return None
    value = _without(source, made.value, way)
    if value is None:
        return None
    drop_if_unused(source, change, inner)
    start, end = source.span(node)
    first, last = source.span(inner)
    return f"{source.text[start:first]}{value}{source.text[last:end]}"


def _shaped(node: ast.expr) -> ast.expr:
    """What a chain of reshaping methods starts from."""
    while isinstance(node, ast.Call) and called(node) in _SHAPES and isinstance(node.func, ast.Attribute):
        node = node.func.value
    return node


def _without(source: Source, node: ast.expr, move: ast.Call) -> str | None:
    """An expression's code without a copy in it."""
    if not isinstance(move.func, ast.Attribute) or len(move.args) != 1 or move.keywords:
        return None
    there = move.args[0]
    if context_named(there) is None and not isinstance(there, ast.Name | ast.Attribute):
        return None
    start, end = source.span(node)
    first, last = source.span(move)
    return f"{source.text[start:first]}{source.operand(move.func.value)}{source.text[last:end]}"


def _plain_size(node: ast.expr) -> bool:
    """Whether a part of a shape is -1 or a positive number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and node.operand.value == 1
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 0


def left_where_it_is(situation: Situation, last: int) -> Draft | None:
    """``x = x.as_in_context(host)``, reshaped there, and back at the last line: reshaped where it is."""
    source = situation.source
    stmt = next((one for one in situation.statements if isinstance(one, ast.Assign)), None)
    ends = [one for one in source.statements_at(last) if not is_compound(one)]
    move = stmt.value if stmt is not None else None
    if stmt is None or len(ends) != 1 or not isinstance(move, ast.Call) or called(move) not in _MOVES:
        return None
    block, end = source.block_of(stmt), ends[0]
    value, names = _without(source, move, move), bound_in(stmt)
    if value is None or len(stmt.targets) != 1 or len(names) != 1 or not any(one is end for one in block):
        return None
    between = [one for one in block if stmt.lineno < one.lineno < end.lineno]
    for one in between:
        if not isinstance(one, ast.Assign) or not _only_shapes(one.value, names):
            return None
        names |= bound_in(one)
    backs = [node for node in own_nodes(end) if isinstance(node, ast.Call) and called(node) in _MOVES]
    inside = {part for one in (stmt, *between, end) for part in ast.walk(one)}
    others = [
        node
        for node in ast.walk(source.scopes_of(stmt)[0])
        if isinstance(node, ast.Name) and node.id in names and node not in inside
        if isinstance(node.ctx, ast.Load) and node.lineno > stmt.lineno
    ]
    match backs:
        case [ast.Call(func=ast.Attribute(value=moved))] if _only_shapes(moved, names):
            pass
        case _:
            return None
    if others or isinstance(end, ast.Expr) or unfolded(source, stmt)[0] is not source:
        return None
    change = Change(source)
    if {value} == bound_in(stmt):
        change.drop(stmt)
    else:
        change.replace(move, value)
    return situation.draft("Reshapes the array where it is, without the way there and back.", change.text())


def _only_shapes(node: ast.expr, names: set[str]) -> bool:
    """Whether an expression is one of some names, at most reshaped."""
    root = _shaped(node)
    read = [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in names]
    return isinstance(root, ast.Name) and read == [root.id]
