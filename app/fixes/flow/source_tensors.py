"""What an expression was before Python took its value: the tensor, and whether a name still stands for it."""

from __future__ import annotations

import ast

from app.fixes.code.change import Change, unfolded
from app.fixes.code.device_notation import blocks_around
from app.fixes.code.names import assignment_of, bound_in, called, changed_in, from_modules, read_in, root_of
from app.fixes.code.parsed_source import Source, is_compound

_TAKES = frozenset({"numpy", "asnumpy"})


def before_taking(source: Source, made: ast.expr, stmt: ast.stmt, change: Change) -> str | None:
    """The tensor whose value an expression is, by ``x.numpy()`` in it or a line above."""
    if isinstance(made, ast.Call):
        return source.operand(taken) if (taken := _taken(made)) is not None else None
    above = assignment_of(source, made.id, stmt) if isinstance(made, ast.Name) else None
    taken = _taken(above.value) if above is not None and above.value is not None else None
    if above is None or taken is None or above.value is None or not isinstance(made, ast.Name):
        return None
    if isinstance(taken, ast.Name) and still(source, above, stmt, taken):
        drop_if_unused(source, change, made)
        return source.code(taken)
    if _uses(source, made.id) != 2 or not _once_each(source, above, stmt):
        return None
    change.replace(above.value, source.code(taken))
    return made.id


def reshaped(source: Source, made: ast.expr) -> tuple[ast.expr, ast.List | ast.Tuple] | None:
    """The tensor and the shape of ``np.reshape(x.numpy(), [..])`` or ``x.numpy().reshape([..])``."""
    if not isinstance(made, ast.Call) or called(made) != "reshape" or made.keywords:
        return None
    if not isinstance(made.func, ast.Attribute):
        return None
    of_numpy = root_of(made.func) in from_modules(source, made, "numpy") and len(made.args) == 2
    whole = made.args if of_numpy else [made.func.value, *made.args]
    if len(whole) != 2 or not isinstance(whole[1], ast.List | ast.Tuple):
        return None
    taken = _taken(whole[0])
    return (taken, whole[1]) if taken is not None else None


def _taken(node: ast.expr) -> ast.expr | None:
    plain = isinstance(node, ast.Call) and called(node) in _TAKES and not node.args and not node.keywords
    return (
        node.func.value
        if plain and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        else None
    )


def still(source: Source, made: ast.stmt, stmt: ast.stmt, value: ast.expr) -> bool:
    """Whether the names of an expression mean the same at a later statement of the same round."""
    if not _once_each(source, made, stmt):
        return False
    names = read_in(value)
    scope = source.scopes_of(stmt)[0]
    between = [
        one
        for one in ast.walk(scope)
        if isinstance(one, ast.stmt) and not is_compound(one) and made.lineno < one.lineno < stmt.lineno
    ]
    return not any(names & (bound_in(one) | changed_in(one)) for one in between)


def _once_each(source: Source, made: ast.stmt, stmt: ast.stmt) -> bool:
    """Whether the later statement runs right after the other, each time, but for device scopes."""
    block = source.block_of(made)
    for one in (stmt, *source.ancestors(stmt)):
        if one is not stmt and not isinstance(one, ast.With):
            break
        if any(one is other for other in block):
            return True
    # Both may be in scopes of their own that follow each other.
    parent = source.parents[made]
    return isinstance(parent, ast.With) and _once_each(source, parent, stmt)


def _uses(source: Source, name: str) -> int:
    return sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(source.tree))


def drop_if_unused(source: Source, change: Change, node: ast.expr) -> None:
    """Take the assignment of a name out that nothing else uses."""
    if not isinstance(node, ast.Name):
        return
    made = assignment_of(source, node.id, node)
    alone = made is not None and source.lines[made.lineno - 1].strip().startswith(
        source.code(made).partition("\n")[0]
    )
    if made is not None and alone and _uses(source, node.id) == 2 and unfolded(source, made)[0] is source:
        change.drop(made)


def maybe_taped(source: Source, stmt: ast.stmt) -> bool:
    """Whether a tape may watch the statement: it is in a function, of whatever file, or in a tape's block."""
    return source.function_of(stmt) is not None or any(
        called(item.context_expr) == "GradientTape"
        for block in blocks_around(source, stmt)
        for item in block.items
    )
