"""What a name stands for at a place of a file, as far as the text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from app.fixes.code.parsed_source import Function, Scope, Source, first_line, parts

_CHANGING = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "update", "add", "discard", "sort", "reverse"}
    | {"shuffle", "fill", "put", "copyto", "resize", "setdefault", "assign", "assign_add", "assign_sub"}
)
_INNER = Function | ast.ClassDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def bindings(source: Source, name: str, at: ast.AST) -> list[ast.AST]:
    """The places that give a name its value, in the innermost scope around `at` that has any."""
    for scope in source.scopes_of(at):
        found = [node for node in _direct(scope) if name in _binds(node)]
        if found:
            return found
    return []


def value_of(source: Source, name: str, at: ast.AST) -> ast.expr | None:
    """What the name was assigned before `at`; None where that is not the only thing it may be."""
    found = bindings(source, name, at)
    stmt = source.statement_of(found[0]) if len(found) == 1 else None
    if stmt is None or not _seen_from(source, stmt, at):
        return None
    return next((value for target, value in assigned(stmt) if target is found[0]), None)


def assigned(stmt: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement assigns, each with the code of its value."""
    match stmt:
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target], value=value)
        ):
            yield target, value
        case ast.Assign(
            targets=[ast.Tuple(elts=targets) | ast.List(elts=targets)],
            value=ast.Tuple(elts=values) | ast.List(elts=values),
        ) if len(targets) == len(values):
            yield from zip(targets, values, strict=True)


def bound_in(node: ast.AST) -> set[str]:
    """Every name that gets a value in a piece of code, functions that are made in it included."""
    return {name for part in ast.walk(node) for name in _binds(part)}


def changed_in(node: ast.AST) -> set[str]:
    """Names whose objects are, or may be, changed in place in a piece of code."""
    found: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                found.add(root_of(part))
            case ast.Call(func=ast.Attribute(attr=name) as func, args=args) if name in _CHANGING:
                found.update(map(root_of, (func, *args)))
            case ast.keyword(arg="out", value=value):
                found.add(root_of(value))
    return found - {""}


def loads_in(node: ast.AST) -> list[ast.Name]:
    """Every reading of a name in a piece of code."""
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return [name for name in names if isinstance(name.ctx, ast.Load)]


def read_in(node: ast.AST) -> set[str]:
    """Names whose value a piece of code reads; what a comprehension or a lambda binds itself left out."""
    return {load.id for load in loads_in(node)} - bound_in(node)


def root_of(node: ast.AST) -> str:
    """The name that a chain of attributes and subscripts starts with; '' for other code."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.AST) -> str:
    """``tf.data.Dataset`` for a chain of names; '' for other code."""
    match node:
        case ast.Attribute(value=value, attr=name):
            return f"{before}.{name}" if (before := dotted(value)) else ""
        case ast.Name(id=name):
            return name
    return ""


def called(node: ast.AST) -> str:
    """The last name of what is called: ``append`` for ``losses.append(x)``; '' for no call."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
    return ""


def calls_of(stmt: ast.AST, *names: str) -> list[ast.Call]:
    """A statement's own calls; of functions of these names if any are given."""
    return [one for one in parts(stmt, ast.Call) if not names or called(one) in names]


def keyword(call: ast.Call, *names: str) -> ast.keyword | None:
    """A call's argument by its name."""
    return next((one for one in call.keywords if one.arg in names), None)


def imported(source: Source, at: ast.AST, *roots: str) -> set[str]:
    """Names that stand at a place for modules, or things from modules: of these packages if any are given."""
    return {alias for alias, found in _imports(source, at) if not roots or found.partition(".")[0] in roots}


def module_name(source: Source, at: ast.AST, *modules: str) -> str | None:
    """How the code at a place writes one of these modules, as ``tf``; None where it has no name for it."""
    return next((alias for alias, found in _imports(source, at) if found in modules), None)


def full_name(source: Source, node: ast.AST, at: ast.AST) -> str:
    """A chain of names with its module's own name in front, ``tensorflow.keras.Model``; '' if it has none."""
    root, _, rest = dotted(node).partition(".")
    found = {module for alias, module in _imports(source, at) if alias == root}
    return ".".join(filter(None, (found.pop(), rest))) if root and len(found) == 1 else ""


def _imports(source: Source, at: ast.AST) -> Iterator[tuple[str, str]]:
    for node in (node for scope in source.scopes_of(at) for node in _direct(scope)):
        match node:
            case ast.Import(names=names):
                for one in names:
                    if one.asname or "." not in one.name:
                        yield one.asname or one.name, one.name
            case ast.ImportFrom(names=names, level=0):
                yield from ((one.asname or one.name, f"{node.module}.{one.name}") for one in names)


def _direct(scope: Scope) -> Iterator[ast.AST]:
    """What is in a scope, without what is in scopes inside it."""
    todo: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _INNER):
            todo += ast.iter_child_nodes(node)


def _binds(node: ast.AST) -> set[str]:
    """Return the names that get a value from a node itself."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Store() | ast.Del())
            | ast.arg(arg=name)
            | ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {(one.asname or one.name).partition(".")[0] for one in aliases}
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return set(names)
    return set()


def _seen_from(source: Source, stmt: ast.stmt, at: ast.AST) -> bool:
    """Whether an assignment was made when the code at a place runs: it stands above, or further outside."""
    place = source.statement_of(at)
    if place is None or source.scopes_of(stmt)[0] is not source.scopes_of(at)[0]:
        return True
    return first_line(stmt) < first_line(place)
