"""``if step % 100 == 0:`` for a statement in a loop, by the loop's own index or one made for it."""

from __future__ import annotations

import ast
import math

from app.fixes.code.change import Change
from app.fixes.code.names import bindings, bound_in, called, value_of
from app.fixes.code.parsed_source import Loop, Source
from app.fixes.situation import Situation

OFTEN, SELDOM = 10, 100
_SHORT = 200
"""Rounds of a loop for which every hundredth is too few."""


def condition(source: Source, loop: Loop, change: Change, seen: float = math.inf) -> tuple[str, int] | None:
    """The code of the condition, and every how many rounds it holds; None where there is nothing to count by.

    Nor in a loop of no more rounds than that: it would hold in the first only. Makes an index by `enumerate`
    where the loop has none. `seen` is how many rounds the run made at most.
    """
    rounds = min(_rounds(source, loop), seen)
    if rounds <= OFTEN:
        return None
    every = OFTEN if rounds <= _SHORT else SELDOM
    index = _counter(loop) if isinstance(loop, ast.While) else _own_index(loop)
    if index is None and isinstance(loop, ast.For):
        index = _enumerated(source, loop, change)
    return (f"{index} % {every} == 0", every) if index else None


def seen(situation: Situation) -> float:
    """How often the run did what the finding tells: no loop around it went round more often."""
    counts = [hop.count for hop in situation.hops if hop.kind == "pull"]
    told = [count for count in situation.evidence("count") if isinstance(count, int)]
    known = [count for count in (*counts, *told) if count is not None]
    return max(known, default=math.inf) if None not in counts else math.inf


def step_loop(situation: Situation, stmt: ast.stmt, takes: int) -> Loop | None:
    """The loop around a statement whose rounds are steps, by how often it takes values in each of them.

    A loop within a step, over variables or devices, takes more of them than the statement has `takes` for: to
    leave rounds of that out would tell only of the first, in each step still. None where it is the only one.
    """
    source = situation.source
    loop = source.loop_of(stmt)
    in_step = sum(hop.each or 0 for hop in situation.hops if hop.kind == "pull")
    if loop is None or in_step < max(1, takes) + 0.5:
        return loop
    return source.loop_of(loop) if takes else None


def has_condition(source: Source, node: ast.AST, loop: Loop) -> bool:
    """Whether the node is run in some rounds of the loop only, by an `if` inside it."""
    child = node
    for parent in source.ancestors(node):
        if parent is loop:
            return False
        if isinstance(parent, ast.If) and child is not parent.test:
            return True
        child = parent
    return False


def _own_index(loop: Loop) -> str | None:
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    name, call = called(loop.iter), loop.iter
    if name == "tqdm" and call.args and isinstance(call.args[0], ast.Call):
        call = call.args[0]
        name = called(call)
    target: ast.AST = loop.target
    if name == "enumerate" and isinstance(target, ast.Tuple) and target.elts:
        target = target.elts[0]
    elif name not in ("range", "trange"):
        return None
    kept = isinstance(target, ast.Name) and not any(target.id in bound_in(one) for one in loop.body)
    return target.id if kept and isinstance(target, ast.Name) and target.id != "_" else None


def _counter(loop: ast.While) -> str | None:
    for stmt in loop.body:
        if not isinstance(stmt, ast.AugAssign) or not isinstance(stmt.op, ast.Add):
            continue
        one = isinstance(stmt.value, ast.Constant) and stmt.value.value == 1
        if one and isinstance(stmt.target, ast.Name):
            return stmt.target.id
    return None


def _enumerated(source: Source, loop: ast.For, change: Change) -> str | None:
    target = source.code(loop.target)
    if isinstance(loop.target, ast.Name) and target == "_" and called(loop.iter) == "range":
        name = source.free_name("step", "index")
        change.replace(loop.target, name)
        return name
    if called(loop.iter) == "enumerate":
        return None
    name = source.free_name("step", "index")
    if isinstance(loop.target, ast.Tuple) and not target.startswith("("):
        target = f"({target})"
    start, end = source.span(loop.iter)
    change.replace(loop.target, f"{name}, {target}")
    change.insert(start, "enumerate(")
    change.insert(end, ")")
    return name


def _rounds(source: Source, loop: Loop) -> float:
    """How often the loop goes round where its text says so."""
    return _length(source, loop.iter) if isinstance(loop, ast.For) else math.inf


def _length(source: Source, node: ast.expr) -> float:
    """How many items something has that a loop goes through; infinitely many where the text doesn't say."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return math.inf if any(isinstance(one, ast.Starred) for one in items) else len(items)
        case ast.Name(id=name):
            value = value_of(source, name, node)
            return _length(source, value) if isinstance(value, ast.List | ast.Tuple | ast.Set) else math.inf
        case ast.Call(args=[first, *_]) if called(node) in ("enumerate", "tqdm", "reversed", "list"):
            return _length(source, first)
        case ast.Call(args=[_, *_] as items) if called(node) == "zip":
            return min(_length(source, one) for one in items)
        case ast.Call(args=[_, *_] as items) if called(node) in ("range", "trange") and len(items) <= 3:
            numbers = [number for one in items if (number := _number(source, one)) is not None]
            if len(numbers) == len(items) and 0 not in numbers[2:]:
                return len(range(*numbers))
    return math.inf


def _number(source: Source, node: ast.expr) -> int | None:
    """A whole number, or a name that stands for one: a parameter for the few that it is by default."""
    if isinstance(node, ast.Name):
        found = bindings(source, node.id, node)
        if len(found) == 1 and isinstance(found[0], ast.arg):
            default = _default(source, found[0])
            few = _number(source, default) if isinstance(default, ast.Constant) else None
            return few if few is not None and few <= OFTEN else None
        value = value_of(source, node.id, node)
        return _number(source, value) if isinstance(value, ast.Constant) else None
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _default(source: Source, parameter: ast.arg) -> ast.expr | None:
    """What a parameter is where a call gives nothing for it."""
    given = source.parents[parameter]
    if not isinstance(given, ast.arguments):
        return None
    named = dict(zip(given.kwonlyargs, given.kw_defaults, strict=True))
    if parameter in named:
        return named[parameter]
    plain = [*given.posonlyargs, *given.args]
    of_last = dict(zip(reversed(plain), reversed(given.defaults), strict=False))
    return of_last.get(parameter)
