"""A value that the statement above took already: its number is kept and used again."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.names import called
from app.fixes.code.parsed_source import own_nodes
from app.fixes.flow.host_reads import is_pure, tells
from app.fixes.loops.kept_values import appended_to
from app.fixes.situation import Draft, Situation

_TAKES = frozenset({"asscalar", "item", "float"})


def taken_above(situation: Situation, stmt: ast.stmt) -> Draft | None:
    """``seen.append(loss.asscalar())`` and ``if loss < 0.1:`` below: the test takes the same number."""
    source = situation.source
    if not isinstance(stmt, ast.If) or situation.framework != "mxnet":
        return None
    tested, above = _tested(stmt.test), source.before(stmt)
    if tested is None or above is None or unfolded(source, above)[0] is not source:
        return None
    found = [node for node in own_nodes(above) if _takes(node, tested.id)]
    if len(found) != 1 or not isinstance(found[0], ast.Call) or not _changes_nothing(above):
        return None
    if any(isinstance(one, ast.IfExp | ast.BoolOp) for one in source.ancestors(found[0])):
        return None  # not taken each time
    change, take = Change(source), found[0]
    target = above.targets[0] if isinstance(above, ast.Assign) else None
    if isinstance(target, ast.Name) and isinstance(above, ast.Assign) and above.value is take:
        if len(above.targets) != 1 or target.id == tested.id:
            return None
        name = target.id
    else:
        name = source.free_name("value", f"{tested.id}_value")
        change.line_before(above, f"{name} = {source.code(take)}")
        change.replace(take, name)
    change.replace(tested, name)
    words = f"Tests the number that the line above took of {tested.id} in place of taking another."
    return situation.draft(words, change.text())


def _tested(test: ast.expr) -> ast.Name | None:
    """The array of ``loss < 0.1``."""
    if not isinstance(test, ast.Compare) or len(test.comparators) != 1:
        return None
    sides = [test.left, test.comparators[0]]
    arrays = [one for one in sides if isinstance(one, ast.Name)]
    numbers = [one for one in sides if isinstance(one, ast.Constant) and isinstance(one.value, int | float)]
    return arrays[0] if len(arrays) == 1 and len(numbers) == 1 else None


def _takes(node: ast.AST, name: str) -> bool:
    if not isinstance(node, ast.Call) or called(node) not in _TAKES or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute):
        return not node.args and isinstance(node.func.value, ast.Name) and node.func.value.id == name
    return len(node.args) == 1 and isinstance(node.args[0], ast.Name) and node.args[0].id == name


def _changes_nothing(stmt: ast.stmt) -> bool:
    """Whether the statement only tells, keeps or names what it takes."""
    pair = appended_to(stmt)
    if pair is not None:
        return is_pure(pair[1])
    return tells(stmt) or (isinstance(stmt, ast.Assign) and is_pure(stmt.value))
