"""A user's file as text and tree at once: statements of a line, their spans, loops and scopes."""

from __future__ import annotations

import ast
import functools
import io
import itertools
import tokenize
from collections.abc import Iterator
from typing import TypeVar

from app.fixes.code.edits import plain_lines
from runners.python_source import parse

Loop = ast.For | ast.AsyncFor | ast.While
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | ast.Module
BROKEN = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What parsing text may raise."""
_BLOCKS = ast.stmt | ast.excepthandler | ast.match_case
"""What stands in statements that hold others."""
Node = TypeVar("Node", bound=ast.AST)


class Source:
    """Text and tree of one file."""

    def __init__(self, text: str) -> None:
        """Raises one of `BROKEN` where the text is no Python."""
        self.lines = plain_lines(text)
        self.text = "".join(f"{line}\n" for line in self.lines)
        self.tree = parse(self.text)
        self._nodes = list(ast.walk(self.tree))
        self.parents = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._starts = [0, *itertools.accumulate(len(line) + 1 for line in self.lines)]

    def offset(self, line: int, column: int) -> int:
        """Where a place of the tree, whose columns count bytes, is in the text."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return self._starts[line - 1] + (
            column if text.isascii() else len(text.encode()[:column].decode(errors="replace"))
        )

    def line_start(self, line: int) -> int:
        """Where a line begins in the text; the line after the last is its end."""
        return self._starts[line - 1]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node begins and ends in the text."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def code(self, node: ast.expr | ast.stmt) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.text[start:end]

    def operand(self, node: ast.expr) -> str:
        """A node's text, in parentheses where it might be torn apart by what stands beside it."""
        text = self.code(node)
        whole = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant | ast.List | ast.ListComp
        return text if isinstance(node, whole) else f"({text})"

    def every(self, kind: type[Node]) -> list[Node]:
        """All nodes of a kind."""
        return [node for node in self._nodes if isinstance(node, kind)]

    def statements_at(self, line: int) -> list[ast.stmt]:
        """Statements that have code of their own on the line, simple ones before the headers of others."""
        found = [stmt for stmt in self.every(ast.stmt) if first_line(stmt) <= line <= header_end(stmt)]
        return sorted(found, key=is_compound)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parents, from the inside out."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds a node, or that it is."""
        return next((one for one in (node, *self.ancestors(node)) if isinstance(one, ast.stmt)), None)

    def loop_of(self, node: ast.AST) -> Loop | None:
        """The innermost loop of the same function that runs the node again and again."""
        for parent in self.ancestors(node):
            if isinstance(parent, Scope):
                return None
            if isinstance(parent, Loop) and not any(node is one for one in _once(parent)):
                return parent
            node = parent
        return None

    def scopes_of(self, node: ast.AST) -> list[Scope]:
        """The scopes whose names a node sees, the innermost first; a class is none for its methods."""
        found = [parent for parent in self.ancestors(node) if isinstance(parent, Scope)]
        return [one for one in found if not isinstance(one, ast.ClassDef) or one is found[0]]

    def function_of(self, node: ast.AST) -> Function | None:
        """The function that a statement is in; None in a module, a class or a lambda."""
        scope = self.scopes_of(node)[0]
        return scope if isinstance(scope, Function) else None

    def block_of(self, stmt: ast.stmt) -> list[ast.stmt]:
        """The statements among which one stands."""
        parent = self.parents[stmt]
        blocks = (getattr(parent, name, None) for name in ("body", "orelse", "finalbody"))
        return next((block for block in blocks if isinstance(block, list) and stmt in block), [stmt])

    def before(self, stmt: ast.stmt) -> ast.stmt | None:
        """The statement before it in its block."""
        block = self.block_of(stmt)
        return block[index - 1] if (index := block.index(stmt)) else None

    def indentation(self, stmt: ast.stmt) -> str:
        """The white space before the line on which a statement begins."""
        line = self.lines[first_line(stmt) - 1]
        return line[: len(line) - len(line.lstrip())]

    def unit(self, stmt: ast.stmt) -> str:
        """How the file indents a block more, as near to the statement as can be seen."""
        for node in (stmt, *self.ancestors(stmt), *self.every(ast.stmt)):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list):
                outer, inner = self.indentation(node), self.indentation(body[0])
                if inner.startswith(outer) and inner != outer:
                    return inner[len(outer) :]
        return "    "

    @functools.cached_property
    def inside_strings(self) -> frozenset[int]:
        """Lines that begin inside a string: their white space is the string's."""
        found: set[int] = set()
        opened: list[int] = []
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            name = tokenize.tok_name[token.type]
            if name in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif name in ("FSTRING_END", "TSTRING_END"):
                found.update(range(opened.pop() + 1, token.end[0] + 1))
            elif token.type == tokenize.STRING:
                found.update(range(token.start[0] + 1, token.end[0] + 1))
        return frozenset(found)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """Every name that the file uses anywhere."""
        return frozenset(
            [node.id for node in self.every(ast.Name)] + [node.arg for node in self.every(ast.arg)]
        )

    def free_name(self, *wanted: str) -> str:
        """The first of these names that the file does not use, else the last with a number."""
        numbered = (f"{wanted[-1]}_{number}" for number in itertools.count(2))
        return next(name for name in itertools.chain(wanted, numbered) if name not in self.names)


def is_compound(stmt: ast.stmt) -> bool:
    """Whether it holds other statements."""
    return any(isinstance(child, _BLOCKS) for child in ast.iter_child_nodes(stmt))


def first_line(stmt: ast.stmt) -> int:
    """The line on which it begins, its decorators included."""
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min((stmt.lineno, *(one.lineno for one in decorators)))


def header_end(stmt: ast.stmt) -> int:
    """The last line of what is not another statement in it."""
    if not is_compound(stmt):
        return stmt.end_lineno or stmt.lineno
    ends = (getattr(node, "end_lineno", None) or 0 for node in own_nodes(stmt) if node is not stmt)
    return max((stmt.lineno, *ends))


def own_nodes(stmt: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, other statements and what they hold left out."""
    yield stmt
    for child in own_children(stmt):
        yield from own_nodes(child)


def own_children(stmt: ast.AST) -> list[ast.AST]:
    """What stands in a node itself, but for other statements."""
    return [child for child in ast.iter_child_nodes(stmt) if not isinstance(child, _BLOCKS)]


def parts(stmt: ast.AST, kind: type[Node]) -> list[Node]:
    """Those of a statement's own nodes that are of a kind."""
    return [node for node in own_nodes(stmt) if isinstance(node, kind)]


def _once(loop: Loop) -> list[ast.AST]:
    """What a loop runs once: before or after its rounds."""
    before = [] if isinstance(loop, ast.While) else [loop.target, loop.iter]
    return [*before, *loop.orelse]
