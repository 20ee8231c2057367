"""Changes of one file's text by the places of its tree, made all at once."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TypeVar

from app.fixes.code.parsed_source import Source, first_line, is_compound

Node = TypeVar("Node", bound=ast.AST)


class Overlap(Exception):
    """Two changes want the same text."""


class Change:
    """Collects replacements and makes them; places are those of the unchanged text."""

    def __init__(self, source: Source) -> None:
        """Nothing is changed yet."""
        self.source = source
        self._made: list[tuple[int, int, str]] = []

    def replace(self, node: ast.expr | ast.stmt, text: str) -> None:
        """Put a text in the place of a node."""
        self._made.append((*self.source.span(node), text))

    def replace_span(self, start: int, end: int, text: str) -> None:
        """Put a text in the place of another."""
        self._made.append((start, end, text))

    def insert(self, offset: int, text: str) -> None:
        """Put a text before a place; several go in the order in which they were asked for."""
        self._made.append((offset, offset, text))

    def insert_line(self, line: int, text: str) -> None:
        """Put a line before a line."""
        self.insert(self.source.line_start(line), f"{text}\n")

    def after(self, stmt: ast.stmt, text: str, header: str = "") -> None:
        """Put a line after a statement, under a header such as ``with x`` where one is given."""
        assert stmt.end_lineno is not None
        indentation = self.source.indentation(stmt)
        if header:
            self.insert_line(stmt.end_lineno + 1, f"{indentation}{header}:")
            indentation += self.source.unit(stmt)
        self.insert_line(stmt.end_lineno + 1, indentation + text)

    def line_before(self, stmt: ast.stmt, text: str) -> None:
        """Put a line before a statement that begins its line, indented alike."""
        self.insert_line(first_line(stmt), self.source.indentation(stmt) + text)

    def indent(self, stmt: ast.stmt, more: str) -> None:
        """Indent all lines of a statement, but those that begin inside a string."""
        assert stmt.end_lineno is not None
        for line in range(first_line(stmt), stmt.end_lineno + 1):
            if line not in self.source.inside_strings and self.source.lines[line - 1].strip():
                self.insert(self.source.line_start(line), more)

    def wrap(self, stmt: ast.stmt, header: str, *more: ast.stmt) -> None:
        """Put a statement, and those of its block that follow it, under a header such as ``if x:``."""
        self.line_before(stmt, header)
        for one in (stmt, *more):
            self.indent(one, self.source.unit(stmt))

    def drop(self, stmt: ast.stmt) -> None:
        """Take a statement out that has its lines for itself; ``pass`` where its block were empty else."""
        assert stmt.end_lineno is not None
        if len(self.source.block_of(stmt)) == 1 and not isinstance(self.source.parents[stmt], ast.Module):
            self.replace(stmt, "pass")
            return
        start, end = first_line(stmt), stmt.end_lineno
        self.replace_span(self.source.line_start(start), self.source.line_start(end + 1), "")

    def add_argument(self, call: ast.Call, text: str) -> None:
        """Put an argument behind the last one of a call."""
        given = [*call.args, *(one.value for one in call.keywords)]
        end = self.source.span(call)[1] - 1
        if not given:
            self.insert(end, text)
            return
        last = max(self.source.span(one)[1] for one in given)
        if closing := re.match(r"(?:\s*\))*", self.source.text[last:end]):
            last += closing.end()  # the argument is in parentheses
        self.insert(last, f", {text}")

    def text(self) -> str:
        """The changed text. Raises Overlap."""
        parts: list[str] = []
        done = 0
        # Sorting keeps the order of those that begin at one place; what is inserted there comes first.
        for start, end, text in sorted(self._made, key=lambda one: (one[0], one[1] > one[0])):
            if start < done:
                raise Overlap
            parts += (self.source.text[done:start], text)
            done = end
        return "".join(parts) + self.source.text[done:]


class Moved:
    """Where the nodes of a file are after a change of nothing but its lines."""

    def __init__(self, old: Source, new: Source) -> None:
        """Both have the same tree."""
        self._now = dict(zip(ast.walk(old.tree), ast.walk(new.tree), strict=True))

    def __call__(self, node: Node) -> Node:
        """The node in the changed file."""
        found = self._now[node]
        assert isinstance(found, type(node))
        return found


def unfolded(source: Source, stmt: ast.stmt) -> tuple[Source, Moved]:
    """The file with the statement on lines of its own, and where its nodes are then.

    For what stands behind the colon of ``if x: y`` and between the semicolons of ``x; y``.
    """
    block = source.block_of(stmt)
    at = next(number for number, one in enumerate(block) if one is stmt)
    first = last = at
    while first > 0 and block[first - 1].end_lineno == block[first].lineno:
        first -= 1
    while last + 1 < len(block) and block[last].end_lineno == block[last + 1].lineno:
        last += 1
    group = block[first : last + 1]
    begin = source.span(group[0])[0]
    before = source.text[source.line_start(group[0].lineno) : begin]
    behind_colon = bool(before.strip()) and not is_compound(stmt)
    if len(group) == 1 and not behind_colon and not _ends_with_semicolon(source, stmt):
        return source, Moved(source, source)
    parent = source.parents[group[0]]
    indentation = before
    change = Change(source)
    if behind_colon:
        if not isinstance(parent, ast.stmt | ast.excepthandler):
            raise Overlap
        holder = parent if isinstance(parent, ast.stmt) else group[0]
        indentation = source.indentation(holder) + source.unit(holder)
        change.replace_span(begin - (len(before) - len(before.rstrip())), begin, f"\n{indentation}")
    for one, following in itertools.pairwise(group):
        change.replace_span(source.span(one)[1], source.span(following)[0], f"\n{indentation}")
    end = source.span(group[-1])[1]
    if closing := re.match(r"[ \t]*;[ \t]*", source.text[end:]):
        comment = "  " if source.text[end + closing.end()] == "#" else ""
        change.replace_span(end, end + closing.end(), comment)
    made = Source(change.text())
    return made, Moved(source, made)


def _ends_with_semicolon(source: Source, stmt: ast.stmt) -> bool:
    return not is_compound(stmt) and source.text[source.span(stmt)[1] :].lstrip(" \t").startswith(";")
