"""Values that a loop keeps: the tensors stay on the device and are read once, after the loop."""

from __future__ import annotations

import ast
from collections.abc import Callable

from app.facts.transfers.transfer import READS
from app.fixes.code.change import Change
from app.fixes.code.device_notation import constant_of, scope_for, tensorflow
from app.fixes.code.names import assigned, bindings, called
from app.fixes.code.parsed_source import Loop, Source
from app.fixes.flow.host_reads import HostRead, host_reads, together
from app.fixes.situation import Draft, Situation

_BY_ROWS = ("scatter", "embedding", "gather", "indexedslices")
"""Words of files that may assign rows of a variable, which changes a value that was read before."""


def kept(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """The fix of ``losses.append(float(loss))`` and ``total += float(loss)``; None for other statements."""
    found = host_reads(situation, stmt)
    if situation.source.loop_of(stmt) is None or len(found) != 1:
        return None
    if situation.leaves_gpu(situation.read_from or ""):
        return None
    node = found[0].node
    match stmt:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="append"), args=[item])
        ):
            return _in_list(situation, stmt, name, found[0]) if item is node else None
        case ast.AugAssign(target=ast.Name() as name, op=ast.Add(), value=item) if item is node:
            return _in_sum(situation, stmt, name, found[0])
    return None


def _in_list(situation: Situation, stmt: ast.stmt, name: ast.Name, read: HostRead) -> Draft | None:
    source, change = situation.source, Change(situation.source)
    end, tensor = _end(source, name, stmt, _is_empty_list), _lasting(situation, read)
    values = together(situation, read, stmt, name.id)
    tf = situation.framework == "tensorflow"
    scope = scope_for(source, end, situation.read_from) if tf and end is not None else ""
    if end is None or tensor is None or values is None or scope is None:
        return None
    change.replace(read.node, tensor)
    change.after(end, f"{name.id} = {values}", f"with {scope}" if scope else "")
    words = f"Keeps the tensors in {name.id}, which hold memory until all values are taken at once after the"
    return situation.draft(f"{words} loop.", change)


def _in_sum(situation: Situation, stmt: ast.stmt, name: ast.Name, read: HostRead) -> Draft | None:
    """Of TensorFlow's scalars of floats: whole numbers, and arrays of MXNet, add up to other things."""
    source, change = situation.source, Change(situation.source)
    plain = all(hop.dtype in ("float32", "float64") and hop.shape == "" for hop in situation.reads)
    if situation.framework != "tensorflow" or not plain or read.kind not in ("float", "numpy"):
        return None
    end, scope = _end(source, name, stmt, _is_number), scope_for(source, stmt, situation.read_from)
    if end is None or scope is None:
        return None
    change.replace(read.node, source.code(read.value))
    if scope:  # else the sum were computed on the default device
        change.wrap(stmt, f"with {scope}:")
    change.after(end, f"{name.id} = float({name.id})")
    words = (
        f"Adds {name.id} up on the device, in the tensors' own precision, and takes it once after the loop."
    )
    return situation.draft(words, change)


def _end(source: Source, name: ast.Name, stmt: ast.stmt, begins: Callable[[ast.expr], bool]) -> Loop | None:
    """The loop after which the values are all there; None where anything else uses the name before."""
    own = set(ast.walk(stmt))
    given = [node for node in bindings(source, name.id, stmt) if node not in own]
    start = source.statement_of(given[0]) if len(given) == 1 else None
    if start is None or not any(target is given[0] and begins(value) for target, value in assigned(start)):
        return None
    here, end = source.scopes_of(stmt)[0], source.loop_of(stmt)
    while end is not None and (outer := source.loop_of(end)) is not source.loop_of(start):
        end = outer
    if end is None or source.scopes_of(start)[0] is not here or not _leaves(source, end):
        return None
    later = all(
        source.scopes_of(node)[0] is here and node.lineno > (end.end_lineno or 0)
        for node in source.every(ast.Name)
        if node.id == name.id and node not in own and node is not given[0]
        if given[0] in bindings(source, name.id, node)
    )
    return end if later else None


def _leaves(source: Source, loop: Loop) -> bool:
    """Whether what stands after the loop is reached whenever anything reads the values."""
    here = source.scopes_of(loop)[0]
    around = (one for one in source.ancestors(loop) if isinstance(one, ast.Try))
    guarded = any(source.scopes_of(one)[0] is here for one in around)
    endless = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
    return not guarded and (not endless or any(isinstance(node, ast.Break) for node in ast.walk(loop)))


def _is_empty_list(node: ast.expr) -> bool:
    return ast.unparse(node) in ("[]", "list()")


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _lasting(situation: Situation, read: HostRead) -> str | None:
    """Code for a tensor that will still have its value when the loop is over; None where that is not sure."""
    source, code = situation.source, situation.source.code(read.value)
    if situation.framework != "tensorflow":
        return f"{source.operand(read.value)}.copy()"  # MXNet may write into an array again
    created = constant_of(source, read.value, read.node) if isinstance(read.value, ast.Name) else None
    variable = isinstance(read.value, ast.Attribute) or (
        created is not None and called(created) == "Variable"
    )
    if not variable and not any(hop.producer_op in READS for hop in situation.hops):
        return code
    # A value that was read stays what it is when the variable is assigned, not when rows of it are.
    tf, by_rows = tensorflow(source, read.value), any(word in source.text.lower() for word in _BY_ROWS)
    return f"{tf}.convert_to_tensor({code})" if tf and not by_rows else None
