"""Who uses a list or a sum that a loop fills, and from where on its values are all there."""

from __future__ import annotations

import ast
import functools

from app.fixes.code.names import bindings, bound_in, called, dotted, root_of
from app.fixes.code.parsed_source import Loop, Source

_ADDING = frozenset({"append", "extend", "insert"})


def path_name(path: ast.expr) -> str:
    """The name that a list has by itself; '' for a part of something."""
    return path.id if isinstance(path, ast.Name) else ""


def is_path(node: ast.expr) -> bool:
    """A name, or attributes and constant subscripts of one."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def end_of_use(source: Source, path: ast.expr, stmt: ast.stmt, loop: Loop) -> Loop | None:
    """The loop after which nothing appends to the list any more, if nothing reads it before that."""
    if isinstance(path, ast.Attribute) and _read_elsewhere(source, path, stmt):
        return None
    if _read_on_error(source, path, loop):
        return None
    end = loop
    own = frozenset(ast.walk(stmt))
    if _uses(end, path, own):
        return None
    while (outer := source.loop_of(end)) is not None:
        uses = _uses(outer, path, frozenset(ast.walk(end)))
        if any(_stored(source, use) for use in uses):
            return end  # a new list each time
        if uses:
            return None
        end = outer
    return end


def _read_on_error(source: Source, path: ast.expr, loop: Loop) -> bool:
    """Whether what runs when the loop fails, before anything behind it does, uses the list."""
    root, here = root_of(path), source.scopes_of(loop)[0]
    return any(
        isinstance(part, ast.Name) and part.id == root
        for one in source.ancestors(loop)
        if isinstance(one, ast.Try) and source.scopes_of(one)[0] is here
        for after in (*one.handlers, *one.finalbody)
        for part in ast.walk(after)
    )


def _uses(node: ast.AST, path: ast.expr, without: frozenset[ast.AST]) -> list[ast.AST]:
    """Where a piece of code, a part of it left out, may use the list."""
    root = root_of(path)
    parts = [part for part in ast.walk(node) if part not in without]
    keyed = {
        part.value
        for part in parts
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and not _same(part, path)
    }
    if isinstance(path, ast.Attribute):
        return [part for part in parts if isinstance(part, ast.Attribute) and _same(part, path)]
    # The whole of `history` may be read or replaced too; another key of it is not this list.
    named = [part for part in parts if isinstance(part, ast.Name) and part.id == root]
    return [part for part in named if isinstance(path, ast.Name) or part not in keyed]


def _stored(source: Source, use: ast.AST) -> bool:
    parent = source.parents[use]
    return any(
        isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
        for node in (use, parent)
    )


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(one) == ast.unparse(other)


def named_beside(outer: Loop, inner: ast.stmt, name: str) -> bool:
    """Whether the outer loop names it beside the inner one."""
    inside = frozenset(ast.walk(inner))
    return any(isinstance(one, ast.Name) and one.id == name and one not in inside for one in ast.walk(outer))


def _read_elsewhere(source: Source, path: ast.Attribute, stmt: ast.stmt) -> bool:
    """Whether another function of the file reads the attribute, maybe while the loop goes on."""
    here = source.function_of(stmt)
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == path.attr
        and isinstance(node.ctx, ast.Load)
        and source.scopes_of(node)[0] is not here
        for node in ast.walk(source.tree)
    )


def starts_as_number(source: Source, name: str, stmt: ast.stmt) -> bool:
    """Whether all that a sum is ever set to, but for what is added, are numbers that the text states."""
    values = first_values(source, name, stmt)
    numbers = [isinstance(one, ast.Constant) and isinstance(one.value, int | float) for one in values]
    return bool(numbers) and all(numbers) and not _seen_by_others(source, name, stmt)


def starts_empty(source: Source, path: ast.expr, loop: Loop) -> bool:
    """Whether the list certainly has nothing in it when the loop begins: made above it, and not added to."""
    here, code = source.scopes_of(loop)[0], ast.unparse(path)
    inside = frozenset(ast.walk(loop))
    for node in ast.walk(source.tree):
        target: ast.expr | None = node.target if isinstance(node, ast.AugAssign) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ADDING:
            target = node.func.value
        if target is None or node in inside or ast.unparse(target) != code:
            continue
        if source.scopes_of(node)[0] is not here or target.lineno < loop.lineno:
            return False
    if isinstance(path, ast.Attribute):
        made = [
            node.value
            for node in ast.walk(here)
            if isinstance(node, ast.Assign) and any(ast.unparse(one) == code for one in node.targets)
        ]
        return bool(made) and all(map(_is_empty_list, made))
    root = root_of(path)
    if not any(source.scopes_of(node)[0] is here for node in bindings(source, root, loop)):
        return False
    values = first_values(source, root, loop)
    empty = _is_empty_list if isinstance(path, ast.Name) else functools.partial(_has_empty_list, path=path)
    return bool(values) and all(one is not None and empty(one) for one in values)


def _is_empty_list(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return called(node) == "list" and not node.args
    return isinstance(node, ast.List) and not node.elts


def _has_empty_list(node: ast.expr, path: ast.expr) -> bool:
    """Whether a dictionary has one by the one key of the path."""
    if not isinstance(path, ast.Subscript) or not isinstance(path.slice, ast.Constant):
        return False
    if not isinstance(path.value, ast.Name):
        return False
    if isinstance(node, ast.Dict):
        wanted = path.slice.value
        found = [
            value
            for key, value in zip(node.keys, node.values, strict=True)
            if key is None or (isinstance(key, ast.Constant) and key.value == wanted)
        ]
        return len(found) == 1 and _is_empty_list(found[0])
    by_list = isinstance(node, ast.Call) and called(node) == "defaultdict" and len(node.args) == 1
    return by_list and isinstance(node, ast.Call) and dotted(node.args[0]) == "list"


def rebinding(source: Source, path: ast.expr, stmt: ast.stmt) -> str | None:
    """What to assign the values to, so that all who hold the list see them; None where that is unclear."""
    code = source.code(path)
    if not isinstance(path, ast.Name):
        return code
    values = first_values(source, path.id, stmt)
    lists = [
        isinstance(one, ast.List) or (called(one) == "list" if one is not None else False) for one in values
    ]
    if not lists or not all(lists) or _seen_by_others(source, path.id, stmt):
        return None
    here = any(
        source.scopes_of(node)[0] is source.scopes_of(stmt)[0] for node in bindings(source, path.id, stmt)
    )
    return code if here else f"{code}[:]"


def first_values(source: Source, name: str, stmt: ast.stmt) -> list[ast.expr | None]:
    """What the name is assigned, additions left out; None for a value that the text does not tell."""
    values: list[ast.expr | None] = []
    for node in bindings(source, name, stmt):
        parent = source.parents[node]
        if isinstance(parent, ast.AugAssign):
            continue
        if isinstance(parent, ast.Assign | ast.AnnAssign):
            values.append(parent.value)
            continue
        whole = source.parents.get(parent)
        pair = whole.value if isinstance(parent, ast.Tuple) and isinstance(whole, ast.Assign) else None
        fits = (
            isinstance(parent, ast.Tuple)
            and isinstance(pair, ast.Tuple)
            and len(pair.elts) == len(parent.elts)
        )
        found = None
        if fits and isinstance(parent, ast.Tuple) and isinstance(pair, ast.Tuple):
            found = next(
                value for target, value in zip(parent.elts, pair.elts, strict=True) if target is node
            )
        values.append(found)
    return values


def _seen_by_others(source: Source, name: str, stmt: ast.stmt) -> bool:
    """Whether another function reads the same name, maybe while the loop goes on."""
    same, here = bindings(source, name, stmt), source.scopes_of(stmt)[0]
    return any(
        isinstance(node, ast.Name)
        and node.id == name
        and source.scopes_of(node)[0] is not here
        and source.scopes_of(same[0])[0] is not source.scopes_of(node)[0]
        and bindings(source, name, node) == same
        for node in ast.walk(source.tree)
    )


def rebound(loop: Loop, name: str) -> int:
    """How many places of the loop give the name a value."""
    return sum(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for node in ast.walk(loop)
    ) + (name in bound_in(loop) - {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)})
