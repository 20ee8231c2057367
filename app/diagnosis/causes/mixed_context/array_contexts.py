"""Inputs of an MXNet op on several contexts: created on one of them, or brought there before the op."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from app.diagnosis.causes.mixed_context.evidence import Evidence
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, mx_context
from app.fixes.code.names import called, dotted, imported
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.flow.array_creators import context_of, creators, used_elsewhere
from app.fixes.situation import Draft, Situation

_OPS = {
    ast.Add: ("add", "plus"),
    ast.Sub: ("sub", "minus"),
    ast.Mult: ("mul",),
    ast.Div: ("div",),
    ast.Pow: ("power",),
    ast.MatMult: ("dot", "matmul"),
}
_FUNCTIONS = {"multiply": "mul", "subtract": "sub", "divide": "div"}
"""Functions that are named unlike the op that they run."""


def mixed_context(situation: Situation) -> Draft | None:
    """The later inputs of the op are created on, or brought to, the context of the first."""
    return _created_there(situation) or _brought_there(situation)


def _created_there(situation: Situation) -> Draft | None:
    """The arrays that nobody gave a context, created on the other inputs' at the lines that create them."""
    evidence = situation.evidence(Evidence)
    sites, device = evidence.made_on_default_at or [], alone(evidence.devices - {"cpu:0"})
    lines = [there for site in sites if (there := situation.at(site)) is not None]
    if alone([there.file for there in lines]) is None or device is None or situation.finding.site in sites:
        return None
    there = lines[0]
    source, change = there.source, Change(there.source)
    found = [one for line in lines for one in _assigned(source, line.line)]
    names = [source.code(target) for _, target, _ in found]
    for stmt, target, call in found:
        context = mx_context(source, call, device)
        if context is None or used_elsewhere(there, target, stmt, device, names):
            return None
        change.add_argument(call, f"ctx={context}")
    if not found or len(found) != len(sites):
        return None
    words = f"Makes {' and '.join(names)} on {device}, where the other inputs are; check where else"
    return there.draft(f"{words} {'they are' if names[1:] else 'it is'} used.", change)


def _assigned(source: Source, line: int) -> Iterator[tuple[ast.stmt, ast.expr, ast.Call]]:
    """The name, or the attribute, that gets the one array that a line creates."""
    for stmt in source.statements_at(line):
        match stmt:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                yield from ((stmt, target, call) for call in creators(source, stmt))


def _brought_there(situation: Situation) -> Draft | None:
    """``x + y.as_in_context(x.context)``."""
    source, evidence = situation.source, situation.evidence(Evidence)
    ran_on, others = alone(evidence.ran_on), evidence.inputs_also_on
    for stmt in situation.statements:
        pairs = list(_pairs(source, stmt, evidence.ops))
        if len(pairs) != 1:
            continue
        first, other = pairs[0]
        if ran_on == "cpu:0" and others and ran_on not in others:
            first, other = other, first  # bringing the GPU's array to the host would take the rest along
        calls = any(isinstance(part, ast.Call) for part in ast.walk(first))
        if calls or other is getattr(stmt, "target", None):
            continue
        context = context_of(source, first)
        words = (
            f"Brings {source.code(other)} to the context of {source.code(first)}: a copy each time that it is"
            " elsewhere."
        )
        moved = f"{source.operand(other)}.as_in_{context.rpartition('.')[2]}({context})"
        return situation.replaced(words, other, moved)
    return None


def _pairs(source: Source, stmt: ast.stmt, ops: list[str]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The inputs of what may be the op: the first, and the one to bring to it."""
    for node in own_nodes(stmt):
        inputs: list[ast.expr] = []
        match node:
            case ast.AugAssign(target=ast.Name() as target, op=operator, value=value) if _runs(operator, ops):
                yield target, value
            case ast.BinOp(left=left, op=operator, right=right) if _runs(operator, ops):
                inputs = [left, right]
            case ast.Call(func=ast.Attribute(value=owner), args=args) if _is_op(node, ops) and (
                dotted(owner).partition(".")[0] not in imported(source, stmt)
            ):
                inputs = [owner, *args]  # a method's array is an input too
            case ast.Call(func=function, args=args) if (
                _is_op(node, ops) or "loss" in dotted(function).lower()
            ):
                inputs = list(args)
        inputs = [one for one in inputs if not isinstance(one, ast.Constant | ast.UnaryOp)]
        if len(inputs) == 2 and not isinstance(inputs[1], ast.Starred):
            yield inputs[0], inputs[1]


def _runs(operator: ast.operator, ops: list[str]) -> bool:
    """Whether one of the ops is what MXNet runs for an operator."""
    return any(part in op for op in ops for part in _OPS.get(type(operator), ()))


def _is_op(call: ast.Call, ops: list[str]) -> bool:
    """Whether a function may run one of the ops, by its name."""
    name = _FUNCTIONS.get(called(call), called(call))
    return bool(name) and any(name in op for op in ops)
