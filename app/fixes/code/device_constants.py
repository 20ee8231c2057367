"""Constants that name devices: ``G_DEV, D_DEV = "/GPU:0", "/GPU:1"`` and ``DEVICES["x"]``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from app.fixes.code.names import assigned, changed_in, root_of, value_of
from app.fixes.code.parsed_source import Source
from runners.python_source import parse_expression


def constant_of(source: Source, node: ast.expr, at: ast.AST) -> ast.expr | None:
    """The code that an expression stands for at a place: itself, but for what names a constant.

    None where a name, or a part of a list or dictionary, may be something else, and for attributes.
    """
    if isinstance(node, ast.Name):
        return value_of(source, node.id, at)
    if isinstance(node, ast.Subscript):
        return _part(source, node, at) if isinstance(node.value, ast.Name) else None
    return None if isinstance(node, ast.Attribute) else node


def constants(source: Source, at: ast.AST, fits: Callable[[ast.expr], bool]) -> Iterator[str]:
    """How a place can write the constants whose code fits: names first, then parts of them."""
    named: list[str] = []
    parts: list[str] = []
    for stmt in ast.walk(source.tree):
        for target, value in assigned(stmt):
            if isinstance(target, ast.Name) and fits(value):
                named.append(target.id)
            elif isinstance(target, ast.Name):
                parts += (f"{target.id}[{key}]" for key, part in _parts(source, value) if fits(part))
    for code in (*named, *parts):
        found = constant_of(source, parse_expression(code), at)
        if found is not None and fits(found):
            yield code


def _parts(source: Source, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The parts of a list or a dictionary that the text states, each with the code of its key."""
    if isinstance(value, ast.List | ast.Tuple):
        if not any(isinstance(one, ast.Starred) for one in value.elts):
            yield from ((str(place), one) for place, one in enumerate(value.elts))
    elif isinstance(value, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in value.keys]
        if None not in keys and len(set(keys)) == len(keys):
            for key, one in zip(value.keys, value.values, strict=True):
                if key is not None:
                    yield source.code(key), one


def _part(source: Source, node: ast.Subscript, at: ast.AST) -> ast.expr | None:
    whole = value_of(source, root_of(node), at)
    if whole is None or not isinstance(node.slice, ast.Constant) or root_of(node) in changed_in(source.tree):
        return None
    wanted = node.slice.value
    found = [one for key, one in _parts(source, whole) if ast.literal_eval(key) == wanted]
    return found[0] if len(found) == 1 else None
