"""``if step % 100 == 0:`` for a statement in a loop, by the loop's own index or one made for it."""

from __future__ import annotations

import ast
import math
import re

from app.fixes.code.change import Change
from app.fixes.code.names import bound_in, called
from app.fixes.code.parsed_source import Loop, Source
from app.fixes.situation import Situation
from app.judgments.evidence import HostReadEvidence

OFTEN, SELDOM = 10, 100
_SHORT = 200
"""Rounds of a loop for which every hundredth is too few."""
_DECIDES = re.compile(r"(?:^|_)(?:if|every|when|only|unless|due|should)(?:_|$)")
"""In the name of what decides when: ``record_if``, ``every_n_steps``."""


def condition(source: Source, loop: Loop, change: Change, seen: float = math.inf) -> tuple[str, int] | None:
    """The code of the condition, and every how many rounds it holds; None where there is nothing to count by.

    Nor in a loop of no more rounds than that: it would hold in the first only. Makes an index by `enumerate`
    where the loop has none. `seen` is how many rounds the run made at most.
    """
    rounds = min(_rounds(loop), seen)
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
    waits = situation.evidence(HostReadEvidence).count
    known = [count for count in (*counts, waits) if count is not None]
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


def thinned(source: Source, stmt: ast.stmt, loop: Loop) -> bool:
    """Whether an `if`, a `continue` above it or a block such as ``record_if`` leaves rounds out already."""
    if has_condition(source, stmt, loop):
        return True
    skipped = [
        one
        for one in ast.walk(loop)
        if isinstance(one, ast.If) and one.lineno < stmt.lineno
        if any(isinstance(part, ast.Continue) for part in one.body)
    ]
    counted = (
        part
        for one in source.ancestors(stmt)
        if isinstance(one, ast.If)
        for part in ast.walk(one.test)
        if isinstance(part, ast.Mod)
    )
    blocks = (one for one in source.ancestors(stmt) if isinstance(one, ast.With))
    opened = (called(item.context_expr) for block in blocks for item in block.items)
    return bool(skipped) or any(counted) or any(map(_DECIDES.search, opened))


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
    match loop:
        case ast.For(target=ast.Name(id=name), iter=call) if called(call) in ("range", "trange"):
            pass
        case ast.For(target=ast.Tuple(elts=[ast.Name(id=name), *_]), iter=call) if _counts(call):
            pass
        case _:
            return None
    return None if name == "_" or any(name in bound_in(one) for one in loop.body) else name


def _counts(call: ast.expr) -> bool:
    """Whether the items come with their numbers: ``enumerate(data)``, ``tqdm(enumerate(data))``."""
    if isinstance(call, ast.Call) and called(call) == "tqdm" and call.args:
        call = call.args[0]
    return called(call) == "enumerate"


def _counter(loop: ast.While) -> str | None:
    for stmt in loop.body:
        match stmt:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
                return name
    return None


def _enumerated(source: Source, loop: ast.For, change: Change) -> str | None:
    target, name = source.code(loop.target), source.free_name("step", "index")
    if _counts(loop.iter):
        return None
    if target == "_" and called(loop.iter) == "range":
        change.replace(loop.target, name)
        return name
    if isinstance(loop.target, ast.Tuple) and not target.startswith("("):
        target = f"({target})"
    start, end = source.span(loop.iter)
    change.replace(loop.target, f"{name}, {target}")
    change.insert(start, "enumerate(")
    change.insert(end, ")")
    return name


def _rounds(loop: Loop) -> float:
    """How often the loop goes round where its text says so."""
    match loop:
        case ast.For(iter=ast.List(elts=items) | ast.Tuple(elts=items)):
            return len(items)
        case ast.For(iter=ast.Call(args=[ast.Constant(value=int(end))]) as call) if called(call) == "range":
            return end
    return math.inf
