"""Averages and sums that Python carries on from step to step: they are kept where what goes into them is."""

from __future__ import annotations

import ast
import dataclasses

from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone
from app.fixes.code.names import assignment_of, bindings, called, from_modules
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.flow.host_reads import Take, takes
from app.fixes.loops.kept_values import recorded
from app.fixes.loops.loop_sums import known_elsewhere
from app.fixes.situation import Draft, Situation

_RECKONS = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@dataclasses.dataclass(frozen=True)
class _Carried:
    """A statement that makes something anew of itself and of a value that is taken in each step."""

    stmt: ast.Assign | ast.AugAssign
    target: ast.expr
    holder: ast.expr
    """The target, or the dictionary or list that it is a part of."""
    take: Take
    name: str
    """The name that the taken value has there; '' where it is taken in the statement."""


def of_carried(situation: Situation, sums: bool) -> str | None:
    """What is said of a value that goes into an average which each step carries on; None for others.

    Of what is only added to a number with `sums` alone.
    """
    for stmt in situation.statements:
        found = _carried(situation, stmt)
        if found is None or (isinstance(found.stmt, ast.AugAssign) and not sums):
            continue
        source, device = situation.source, alone([hop.src for hop in situation.hops if hop.kind == "pull"])
        where = device or "the devices of what goes into it"
        if device and situation.framework == "tensorflow":
            where = f"{device}, in that device's scope"
        return (
            f"{source.code(found.holder)} at {situation.file}:{found.stmt.lineno} is carried on from step to"
            f" step, so that leaving steps out would change it: keep it on {where}, made of"
            f" {source.code(found.take.value)} itself, and fetch it where it is read, once at the end."
        )
    return None


def carried_on_device(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``avg[k] = d * avg.get(k, now) + (1 - d) * now`` of ``now = p.data().asnumpy()``: of ``p.data()``."""
    source, found = situation.source, _carried(situation, stmt)
    if (
        situation.framework != "mxnet"
        or found is None
        or recorded(source, stmt)
        or recorded(source, found.stmt)
    ):
        return None
    part, take = found.target, found.take
    if (
        take.of("x") != "x.asnumpy()"
        or not isinstance(part, ast.Subscript)
        or not isinstance(found.stmt, ast.Assign)
    ):
        return None
    new, holder = found.stmt.value, found.holder
    if not isinstance(new, ast.BinOp) or not _plain(new, found) or not isinstance(part.slice, ast.Name):
        return None
    change = Change(source)
    change.replace(take.node, source.code(take.value))
    if not _starts_empty(source, holder, stmt) or not _read_by_part(situation, change, found):
        return None
    words = (
        f"Keeps {source.code(holder)} on the device, in its arrays' own precision, and takes its parts where"
        " they are read."
    )
    return situation.draft(words, change.text())


def _carried(situation: Situation, stmt: ast.stmt) -> _Carried | None:
    """What the statement, or one below it in its block that uses its name, carries on."""
    source, found = situation.source, takes(situation, stmt)
    if len(found) != 1:
        return None
    take, name = found[0], ""
    following = [stmt]
    if isinstance(stmt, ast.Assign) and stmt.value is take.node and isinstance(stmt.targets[0], ast.Name):
        name, block = stmt.targets[0].id, source.block_of(stmt)
        following = block[block.index(stmt) + 1 :]
    for one in following:
        if isinstance(one, ast.Assign | ast.AugAssign) and _uses(one.value, take, name):
            target = one.targets[0] if isinstance(one, ast.Assign) else one.target
            holder = target.value if isinstance(target, ast.Subscript) else target
            reads = {ast.unparse(node) for node in ast.walk(one.value) if isinstance(node, ast.expr)}
            again = isinstance(one, ast.AugAssign) or ast.unparse(holder) in reads
            if again and isinstance(holder, ast.Name | ast.Attribute) and _reckoned(one.value, take, name):
                return _Carried(one, target, holder, take, name)
    return None


def _uses(value: ast.expr, take: Take, name: str) -> bool:
    return any(
        node is take.node or (isinstance(node, ast.Name) and node.id == name) for node in ast.walk(value)
    )


def _reckoned(value: ast.expr, take: Take, name: str) -> bool:
    """Whether the value is reckoned with, and not handed to something or selected by."""
    if value is take.node or (isinstance(value, ast.Name) and value.id == name):
        return True
    if isinstance(value, ast.ListComp):
        return _reckoned(value.elt, take, name)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, _RECKONS):
        return False
    sides = [side for side in (value.left, value.right) if _uses(side, take, name)]
    # A first value, as in `avg.get(key, now)`, is the average's own.
    return any(_reckoned(side, take, name) for side in sides) and all(
        _reckoned(side, take, name) or called(one) in ("get", "setdefault")
        for side in sides
        for one in _factors(side)
        if _uses(one, take, name)
    )


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, _RECKONS):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _plain(value: ast.BinOp, found: _Carried) -> bool:
    """Whether nothing but numbers, the part itself and the value is in it: MXNet's arrays reckon alike."""
    part = ast.unparse(found.target)
    key = part[len(ast.unparse(found.holder)) + 1 : -1]
    first = f"{ast.unparse(found.holder)}.get({key}, {found.name})"
    for one in _factors(value):
        own = one is found.take.node or (isinstance(one, ast.Name) and one.id == found.name)
        number = isinstance(one, ast.Constant | ast.Name | ast.Attribute)
        if not own and not number and ast.unparse(one) not in (part, first):
            return False
    return True


def _starts_empty(source: Source, holder: ast.expr, stmt: ast.stmt) -> bool:
    """Whether all that the dictionary is ever made as is empty."""
    if isinstance(holder, ast.Name):
        made = assignment_of(source, holder.id, stmt)
        own = made is not None and source.scopes_of(bindings(source, holder.id, stmt)[0])[0]
        return made is not None and bool(own) and _is_empty(made.value)
    if not isinstance(holder, ast.Attribute):
        return False
    values: list[ast.expr | None] = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr == holder.attr and isinstance(node.ctx, ast.Store):
            parent = source.parents[node]
            whole = source.parents.get(parent)
            value = parent.value if isinstance(parent, ast.Assign | ast.AnnAssign) else None
            if isinstance(parent, ast.Tuple) and isinstance(whole, ast.Assign):
                given = whole.value
                same = isinstance(given, ast.Tuple) and len(given.elts) == len(parent.elts)
                value = given.elts[parent.elts.index(node)] if same and isinstance(given, ast.Tuple) else None
            values.append(value)
    return bool(values) and all(map(_is_empty, values))


def _is_empty(node: ast.expr | None) -> bool:
    by_call = isinstance(node, ast.Call) and called(node) == "dict" and not node.args and not node.keywords
    return by_call or (isinstance(node, ast.Dict) and not node.keys)


def _read_by_part(situation: Situation, change: Change, found: _Carried) -> bool:
    """Have what reads a part of the dictionary take it there; False where either is read otherwise."""
    source, holder = situation.source, found.holder
    inside = set(ast.walk(found.stmt))
    if isinstance(holder, ast.Attribute) and known_elsewhere(situation, holder.attr):
        return False
    if found.name:
        scope = source.scopes_of(found.stmt)[0]
        uses = [one for one in ast.walk(scope) if isinstance(one, ast.Name) and one.id == found.name]
        if any(one not in inside and isinstance(one.ctx, ast.Load) for one in uses):
            return False
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        if not _is_holder(node, holder) or node in inside:
            continue
        read = source.parents[node]
        if (
            not isinstance(read, ast.Subscript)
            or read.value is not node
            or not isinstance(read.ctx, ast.Load)
        ):
            return False
        call = source.parents[read]
        made = isinstance(call, ast.Call) and called(call) == "array" and call.args[:1] == [read]
        modules = from_modules(source, call, "mxnet")
        if not made or not any(isinstance(one, ast.Name) and one.id in modules for one in own_nodes(call)):
            change.replace(read, f"{source.code(read)}.asnumpy()")
    return True


def _is_holder(node: ast.AST, holder: ast.expr) -> bool:
    if isinstance(holder, ast.Attribute):
        return isinstance(node, ast.Attribute) and node.attr == holder.attr
    return isinstance(node, ast.Name) and isinstance(holder, ast.Name) and node.id == holder.id
