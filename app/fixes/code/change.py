"""Changes of one file's text by the places of its tree, made all at once."""

from __future__ import annotations

import ast
import re

from app.fixes.code.parsed_source import Source, first_line


class Overlap(Exception):
    """Two changes want the same text, or a line that other code stands on."""


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
        """Put a line before a statement, indented alike. Raises Overlap where it shares its lines."""
        self._stands_alone(stmt)
        self.insert_line(first_line(stmt), self.source.indentation(stmt) + text)

    def indent(self, stmt: ast.stmt, more: str) -> None:
        """Indent all lines of a statement, but those that begin inside a string. Raises Overlap."""
        self._stands_alone(stmt)
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
        """Take a statement out; ``pass`` where its block were empty else. Raises Overlap."""
        assert stmt.end_lineno is not None
        self._stands_alone(stmt)
        if len(self.source.block_of(stmt)) == 1 and not isinstance(self.source.parents[stmt], ast.Module):
            self.replace(stmt, "pass")
            return
        start, end = first_line(stmt), stmt.end_lineno
        self.replace_span(self.source.line_start(start), self.source.line_start(end + 1), "")

    def _stands_alone(self, stmt: ast.stmt) -> None:
        """Raise Overlap where a statement shares a line, as in ``if x: y`` and ``x; y``."""
        start, end = self.source.span(stmt)
        before = self.source.text[self.source.line_start(stmt.lineno) : start]
        behind = self.source.text[end:].partition("\n")[0].strip()
        if before.strip() or (behind and not behind.startswith("#")):
            raise Overlap

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
