"""Inputs of an MXNet op on several contexts: made on one of them, or brought there before the op."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator

from app.diagnosis.causes.mixed_context.evidence import Evidence
from app.facts.lines import split_site
from app.fixes.code.change import Change
from app.fixes.code.device_notation import alone, mx_context
from app.fixes.code.names import called, dotted, imported
from app.fixes.code.parsed_source import Source, own_nodes
from app.fixes.flow.array_creators import context_of, makers, used_elsewhere
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
    """The later inputs of the op are made on, or brought to, the context of the first."""
    return _made_there(situation) or _brought_there(situation)


def _made_there(situation: Situation) -> Draft | None:
    """The arrays that nobody gave a context, made on the other inputs' at the lines that make them."""
    evidence = situation.evidence(Evidence)
    sites = evidence.made_on_default_at or []
    device, places = alone(sorted(evidence.devices - {"cpu:0"})), [split_site(site) for site in sites]
    file = alone([place[0] for place in places if place is not None])
    source = situation.opened(file) if file is not None else None
    if source is None or file is None or device is None or situation.finding.site in sites:
        return None
    found = [one for place in places if place is not None for one in _assigned(source, place[1])]
    names, there = (
        [source.code(target) for _, target, _ in found],
        dataclasses.replace(situation, file=file, source=source),
    )
    change = Change(source)
    for stmt, target, call in found:
        context = mx_context(source, call, device)
        if context is None or used_elsewhere(there, target, stmt, device, names):
            return None
        change.add_argument(call, f"ctx={context}")
    if not found or len(found) != len(places):
        return None
    words = f"Makes {' and '.join(names)} on {device}, where the other inputs are; check where else"
    return situation.draft(f"{words} {'they are' if names[1:] else 'it is'} used.", change.text(), file)


def _assigned(source: Source, line: int) -> Iterator[tuple[ast.stmt, ast.expr, ast.Call]]:
    """The name, or the attribute, that gets the one array that a line makes."""
    for stmt in source.statements_at(line):
        match stmt:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                yield from ((stmt, target, call) for call in makers(source, stmt))


def _brought_there(situation: Situation) -> Draft | None:
    """``x + y.as_in_context(x.context)``."""
    source = situation.source
    for stmt in situation.statements:
        pairs = list(_pairs(source, stmt, situation.evidence(Evidence).ops))
        if len(pairs) != 1:
            continue
        first, other = pairs[0]
        if _runs_on_host(situation):  # bringing the GPU's array there would take the rest along
            first, other = other, first
        if other is getattr(stmt, "target", None) or any(
            isinstance(part, ast.Call) for part in ast.walk(first)
        ):
            continue
        change, context = Change(source), context_of(source, first)
        change.replace(other, f"{source.operand(other)}.as_in_{context.rpartition('.')[2]}({context})")
        words = (
            f"Brings {source.code(other)} to the context of {source.code(first)}: a copy each time that it is"
            " elsewhere."
        )
        return situation.draft(words, change.text())
    return None


def _runs_on_host(situation: Situation) -> bool:
    """Whether the op runs on the host for its first input, and its others are on devices."""
    evidence = situation.evidence(Evidence)
    others = evidence.inputs_also_on
    return evidence.ran_on == ["cpu:0"] and bool(others) and "cpu:0" not in others


def _pairs(source: Source, stmt: ast.stmt, ops: list[str]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The inputs of what may be the op: the first, and the one to bring to it."""
    if isinstance(stmt, ast.AugAssign) and isinstance(stmt.target, ast.Name) and _runs(stmt.op, ops):
        yield stmt.target, stmt.value
    for node in own_nodes(stmt):
        inputs: list[ast.expr] = []
        match node:
            case ast.BinOp(left=left, op=operator, right=right) if _runs(operator, ops):
                inputs = [left, right]
            case ast.Call(func=function, args=args) if any(_op_called(node) in op for op in ops):
                # A method's array is an input too.
                owner = function.value if isinstance(function, ast.Attribute) else None
                of_module = owner is None or dotted(owner).partition(".")[0] in imported(source, stmt)
                inputs = list(args) if of_module or owner is None else [owner, *args]
            case ast.Call(func=function, args=args) if "loss" in dotted(function).lower():
                inputs = list(args)
        inputs = [one for one in inputs if not isinstance(one, ast.Constant | ast.UnaryOp)]
        if len(inputs) == 2 and not isinstance(inputs[1], ast.Starred):
            yield inputs[0], inputs[1]


def _runs(operator: ast.operator, ops: list[str]) -> bool:
    """Whether one of the ops is what MXNet runs for an operator."""
    return any(part in op for op in ops for part in _OPS.get(type(operator), ()))


def _op_called(call: ast.Call) -> str:
    """A part of the name of the op that a function runs; one that is in no name for no function."""
    return _FUNCTIONS.get(called(call), called(call) or "?")
