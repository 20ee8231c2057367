"""A program's modules taken apart: each definition with its source, and what else it uses."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
from collections.abc import Iterator
from pathlib import Path

from runners.program import HELPERS
from runners.python_source import parse

Target = tuple[str, str]
"""A module's name and the name of what it defines: ("shared.digits", "load")."""
Scope = tuple[bool, frozenset[str]]
"""Whether it is a class's, which its methods do not see, and the names bound in it."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclasses.dataclass(frozen=True)
class Use:
    """A place in a part's source that names a definition of these modules, its own or another's."""

    target: Target
    start: int
    end: int
    """Bytes of the part's source."""
    at_import: bool
    """The definition is needed when the file is read, and not only when a function of it is called."""


@dataclasses.dataclass(frozen=True)
class Part:
    """A function, a class or a constant of a module, with the comments above it."""

    module: str
    names: tuple[str, ...]
    source: bytes
    uses: tuple[Use, ...]
    imports: frozenset[str]
    """The names of libraries' modules, or of what comes from them, that it uses."""
    bound: frozenset[str]
    """All names that mean something else inside it."""


@dataclasses.dataclass
class Module:
    """A file of the programs."""

    name: str
    docstring: str
    parts: list[Part]
    imports: dict[str, str]
    """Name -> the statement that imports it, of libraries."""
    aliases: dict[str, Target]
    """Name -> what it stands for in another of these modules."""
    modules: dict[str, str]
    """Name -> the module of these that it stands for."""


def read_module(folder: Path, name: str) -> Module:
    """Read the module that a script in `folder` knows as `name`: `devices`, `shared.digits`."""
    file = _file(folder, name)
    if file is None:
        raise ValueError(f"{name} is no module of the programs")
    return _Reader(folder, name, file.read_bytes()).read()


@functools.lru_cache(maxsize=256)
def _file(folder: Path, name: str) -> Path | None:
    for root in (folder, HELPERS):
        file = root.joinpath(*name.split(".")).with_suffix(".py")
        if file.is_file():
            return file
    return None


class _Reader:
    def __init__(self, folder: Path, name: str, source: bytes) -> None:
        self.folder = folder
        self.source = source
        self.tree = parse(source)
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.module = Module(name, ast.get_docstring(self.tree) or "", [], {}, {}, {})
        self.own: set[str] = set()

    def read(self) -> Module:
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            else:
                self.own.update(_defined(node))
        body = self.tree.body
        for at, node in enumerate(body):
            if not _defined(node):
                continue
            after = body[at + 1] if at + 1 < len(body) else node
            self.module.parts.append(self._part(node, after if _is_text(after) else node))
        return self.module

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            bound = alias.asname or alias.name
            renamed = f" as {alias.asname}" if alias.asname else ""
            if isinstance(node, ast.Import):
                if _file(self.folder, alias.name):
                    self.module.modules[bound] = alias.name
                else:
                    self.module.imports[bound] = f"import {alias.name}{renamed}"
            elif node.module and _file(self.folder, f"{node.module}.{alias.name}"):
                self.module.modules[bound] = f"{node.module}.{alias.name}"
            elif node.module and _file(self.folder, node.module):
                self.module.aliases[bound] = node.module, alias.name
            elif node.module != "__future__":
                self.module.imports[bound] = f"from {node.module} import {alias.name}{renamed}"

    def _part(self, node: ast.stmt, last: ast.stmt) -> Part:
        decorators = getattr(node, "decorator_list", [])
        line = (decorators[0] if decorators else node).lineno
        while line > 1 and self.lines[line - 2].startswith(b"#"):
            line -= 1
        start = self.starts[line - 1]
        end = self._offset(last.end_lineno, last.end_col_offset)
        finder = _Finder(self, start)
        finder.visit(node)
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            finder.add_name_of(node)
        return Part(
            self.module.name,
            tuple(_defined(node)),
            self.source[start:end],
            tuple(sorted(finder.uses, key=lambda use: use.start)),
            frozenset(finder.imports),
            frozenset(finder.bound),
        )

    def _offset(self, line: int | None, column: int | None) -> int:
        return self.starts[(line or 1) - 1] + (column or 0)

    def offset(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self._offset(node.lineno, node.col_offset), self._offset(node.end_lineno, node.end_col_offset)


class _Finder(ast.NodeVisitor):
    """Finds the names in a part that mean something outside of it."""

    def __init__(self, reader: _Reader, start: int) -> None:
        self.reader = reader
        self.start = start
        self.scopes: list[Scope] = []
        self.late = 0
        """How many functions and annotations it is inside of: what they name is looked up later."""
        self.uses: list[Use] = []
        self.imports: set[str] = set()
        self.bound: set[str] = set()

    def add_name_of(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        """Note where a definition says its own name."""
        begin, _ = self.reader.offset(node)
        at = self.reader.source.index(node.name.encode(), begin)
        self._use((self.reader.module.name, node.name), at, at + len(node.name), at_import=False)

    def visit_Name(self, node: ast.Name) -> None:
        if self._local(node.id):
            return
        module = self.reader.module
        if node.id in self.reader.own:
            self._use((module.name, node.id), *self.reader.offset(node))
        elif node.id in module.aliases:
            self._use(module.aliases[node.id], *self.reader.offset(node))
        elif node.id in module.modules:
            raise ValueError(f"line {node.lineno} uses the module {node.id} other than by module.name")
        elif node.id in module.imports:
            self.imports.add(node.id)
        elif not hasattr(builtins, node.id) and node.id != "__file__":
            raise ValueError(f"line {node.lineno} uses {node.id}, which is not known")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        base = node.value
        modules = self.reader.module.modules
        if isinstance(base, ast.Name) and base.id in modules and not self._local(base.id):
            self._use((modules[base.id], node.attr), *self.reader.offset(node))
        else:
            self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(part)
        self.late += 1
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        arguments += filter(None, (node.args.vararg, node.args.kwarg))
        for annotation in (*(argument.annotation for argument in arguments), node.returns):
            if annotation is not None:
                self.visit(annotation)
        names = {argument.arg for argument in arguments} | _bound_in(node.body)
        self._inside(node.body, (False, frozenset(names)))
        self.late -= 1

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self.late += 1
        names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
        self._inside([node.body], (False, frozenset(names)))
        self.late -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._inside(node.body, (True, frozenset(_bound_in(node.body))))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.late += 1
        self.visit(node.annotation)
        self.late -= 1
        self.visit(node.target)
        if node.value is not None:
            self.visit(node.value)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        targets = (one for part in node.generators for one in ast.walk(part.target))
        names = {one.id for one in targets if isinstance(one, ast.Name)}
        self._inside(list(ast.iter_child_nodes(node)), (False, frozenset(names)))

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _inside(self, body: list[ast.stmt] | list[ast.expr] | list[ast.AST], scope: Scope) -> None:
        self.scopes.append(scope)
        self.bound |= scope[1]
        for node in body:
            self.visit(node)
        self.scopes.pop()

    def _local(self, name: str) -> bool:
        innermost = len(self.scopes) - 1
        return any(
            name in names and (not of_class or depth == innermost)
            for depth, (of_class, names) in enumerate(self.scopes)
        )

    def _use(self, target: Target, start: int, end: int, at_import: bool | None = None) -> None:
        now = not self.late if at_import is None else at_import
        self.uses.append(Use(target, start - self.start, end - self.start, now))


def _defined(node: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.AnnAssign | ast.Assign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)]
    return []


def _bound_in(body: list[ast.stmt]) -> set[str]:
    """The names that a function's or a class's own statements bind, those of functions inside not."""
    names: set[str] = set()
    shared: set[str] = set()
    for node in _own_nodes(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
    return names - shared


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for node in body:
        yield from _walk(node)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef, ast.Lambda)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _walk(child)


def _is_text(node: ast.stmt) -> bool:
    """Whether it is a text alone: behind a definition, its documentation."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
