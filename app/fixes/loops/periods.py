"""``if step % 100 == 0:`` for a statement in a loop, by the loop's own index or one made for it."""

from __future__ import annotations

import ast
import math
import re

from app.fixes.code.change import Change
from app.fixes.code.device_notation import blocks_around
from app.fixes.code.names import bound_in, called
from app.fixes.code.parsed_source import Loop, Source
from app.fixes.situation import Situation
from app.judgments.evidence import HostReadEvidence

_OFTEN, _SELDOM = 10, 100
_SHORT = 200
"""Rounds of a loop for which every hundredth is too few."""
_DECIDES = re.compile(r"(?:^|_)(?:if|every|when|only|unless|due|should)(?:_|$)")
"""In the name of what decides when: ``record_if``, ``every_n_steps``."""


def condition(situation: Situation, loop: Loop, change: Change) -> tuple[str, int] | None:
    """The code of the condition, and every how many rounds it holds; None where there is nothing to count by.

    Nor in a loop of no more rounds than that, by its text or by the run: it would hold in the first only.
    Makes an index by `enumerate` where the loop has none.
    """
    rounds = min(_rounds(loop), _seen(situation))
    every = _OFTEN if rounds <= _SHORT else _SELDOM
    index = (_own_index(loop) or _enumerated(situation.source, loop, change)) if rounds > _OFTEN else None
    return (f"{index} % {every} == 0", every) if index else None


def step_loop(situation: Situation, stmt: ast.stmt, reads: int) -> Loop | None:
    """The loop around a statement whose rounds are steps, by how often the host reads in each of them.

    A loop within a step, over variables or devices, reads more of them than the statement has `reads` for: to
    leave rounds of that out would show only the first, in each step still. None where it is the only one.
    """
    source = situation.source
    loop = source.loop_of(stmt)
    in_step = sum(hop.each or 0 for hop in situation.reads)
    if loop is None or in_step < max(1, reads) + 0.5:
        return loop
    return source.loop_of(loop) if reads else None


def thinned(source: Source, stmt: ast.stmt, loop: Loop) -> bool:
    """Whether an `if`, a `continue` above it or a block such as ``record_if`` leaves rounds out already."""
    around = list(source.ancestors(stmt))
    tests = [one.test for one in around if isinstance(one, ast.If)]
    above = [one for one in ast.walk(loop) if isinstance(one, ast.If) and one.lineno < stmt.lineno]
    return (
        any(isinstance(one, ast.If) for one in around[: around.index(loop)])
        or any(isinstance(part, ast.Continue) for one in above for part in one.body)
        or any(isinstance(part, ast.Mod) for test in tests for part in ast.walk(test))
        or any(
            _DECIDES.search(called(item.context_expr))
            for block in blocks_around(source, stmt)
            for item in block.items
        )
    )


def _seen(situation: Situation) -> float:
    """How often the run did what the finding is about: no loop around it went round more often."""
    counts = [hop.count for hop in situation.reads]
    waits = situation.evidence(HostReadEvidence).count
    known = (count for count in (*counts, waits) if count is not None)
    return math.inf if None in counts else max(known, default=math.inf)


def _own_index(loop: Loop) -> str | None:
    """The name that counts the rounds of a loop; None where none does."""
    match loop:
        case ast.While(body=body):
            return next(filter(None, map(_counted, body)), None)
        case ast.For(target=ast.Name(id=name), iter=call) if called(call) in ("range", "trange"):
            pass
        case ast.For(target=ast.Tuple(elts=[ast.Name(id=name), *_]), iter=call) if _counts(call):
            pass
        case _:
            return None
    return None if name == "_" or any(name in bound_in(one) for one in loop.body) else name


def _counted(stmt: ast.stmt) -> str:
    """The name that ``step += 1`` counts; '' for other statements."""
    match stmt:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Constant(value=1)):
            return name
    return ""


def _counts(call: ast.expr) -> bool:
    """Whether the items come with their numbers: ``enumerate(data)``, ``tqdm(enumerate(data))``."""
    match call:
        case ast.Call(args=[items, *_]) if called(call) == "tqdm":
            return called(items) == "enumerate"
    return called(call) == "enumerate"


def _enumerated(source: Source, loop: Loop, change: Change) -> str | None:
    """Have a loop count its rounds; None where it cannot."""
    if not isinstance(loop, ast.For) or _counts(loop.iter):
        return None
    target, name = source.code(loop.target), source.free_name("step", "index")
    if target == "_" and called(loop.iter) == "range":
        change.replace(loop.target, name)
        return name
    if isinstance(loop.target, ast.Tuple) and not target.startswith("("):
        target = f"({target})"
    change.replace(loop.target, f"{name}, {target}")
    change.replace(loop.iter, f"enumerate({source.code(loop.iter)})")
    return name


def _rounds(loop: Loop) -> float:
    """How often the loop goes round where its text says so."""
    match loop:
        case ast.For(iter=ast.List(elts=items) | ast.Tuple(elts=items)):
            return len(items)
        case ast.For(iter=ast.Call(args=[ast.Constant(value=int(end))]) as call) if called(call) == "range":
            return end
    return math.inf
