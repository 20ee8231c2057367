"""``while error > 1e-3:`` on a tensor: whether to go on is asked every so many rounds."""

from __future__ import annotations

import ast

from app.analysis.repairs import periods
from app.analysis.repairs.change import Change
from app.analysis.repairs.holding import first_values
from app.analysis.repairs.names import bound_in, dotted, read_in, value_of
from app.analysis.repairs.situation import Draft, Situation
from app.analysis.repairs.source import Source
from app.analysis.repairs.takes import is_pure

_ORDER = ast.Lt | ast.LtE | ast.Gt | ast.GtE
_TOLERANCES = frozenset({"eps", "epsilon", "tol", "tolerance", "atol", "rtol", "threshold"})
_EVERY = periods.OFTEN


def asked_seldom(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """A comparison of a tensor of fractions in the test of a loop; of numbers of things it may not wait."""
    source = situation.source
    if not isinstance(stmt, ast.While) or stmt.orelse or not is_pure(stmt.test):
        return None
    parts = [stmt.test]
    if isinstance(stmt.test, ast.BoolOp) and isinstance(stmt.test.op, ast.And):
        parts = stmt.test.values
    counted = _counted(stmt)
    tensors = [part for part in parts if not read_in(part) & counted and _made_in(stmt, part)]
    if len(tensors) != 1 or not _compares(source, tensors[0]):
        return None
    change = Change(source)
    counter = _counter(source, stmt, change)
    if counter is None:
        return None
    code = f"{counter} % {_EVERY} or {source.code(tensors[0])}"
    change.replace(tensors[0], f"({code})" if len(parts) > 1 else code)
    words = (
        f"Asks every {_EVERY} rounds whether to go on, so it may go on up to {_EVERY - 1} rounds longer;"
        " check that this does no harm."
    )
    return situation.draft(words, change.text())


def _compares(source: Source, test: ast.expr) -> bool:
    """Whether something is compared with a fraction: of a number of things a loop may run out."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], _ORDER):
        return False
    counts = any(isinstance(node, ast.Call) and _counts(node) for node in ast.walk(test))
    return not counts and any(_fraction(source, one) for one in (test.left, *test.comparators))


def _fraction(source: Source, node: ast.expr) -> bool:
    if isinstance(node, ast.Name | ast.Attribute) and dotted(node).rpartition(".")[2] in _TOLERANCES:
        return True
    if isinstance(node, ast.Name):
        node = value_of(source, node.id, node) or node
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def _counts(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("len", "int")


def _counted(loop: ast.While) -> set[str]:
    """Names that each round adds a number to."""
    return {
        one.target.id
        for one in ast.walk(loop)
        if isinstance(one, ast.AugAssign)
        and isinstance(one.target, ast.Name)
        and isinstance(one.value, ast.Constant)
    }


def _made_in(loop: ast.While, test: ast.expr) -> bool:
    """Whether the loop gives what is tested a new value."""
    return bool(read_in(test) & {name for one in loop.body for name in bound_in(one)})


def _counter(source: Source, loop: ast.While, change: Change) -> str | None:
    """The name of a count of rounds that starts at 0: the loop's own, else one made for it."""
    for one in loop.body:
        if not isinstance(one, ast.AugAssign) or not isinstance(one.target, ast.Name):
            continue
        by_one = isinstance(one.op, ast.Add) and isinstance(one.value, ast.Constant) and one.value.value == 1
        starts = first_values(source, one.target.id, loop)
        if by_one and all(isinstance(first, ast.Constant) and first.value == 0 for first in starts):
            return one.target.id
    if any(isinstance(node, ast.Continue) for node in ast.walk(loop)):
        return None
    name = source.free_name("turn", "turns")
    last = loop.body[-1]
    indentation = source.indentation(loop)
    inner = source.indentation(loop.body[0])
    if not inner.startswith(indentation) or inner == indentation or last.end_lineno is None:
        return None  # a body behind the colon
    change.line_before(loop, f"{name} = 0")
    change.insert_line(last.end_lineno + 1, f"{inner}{name} += 1")
    return name
