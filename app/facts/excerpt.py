"""The lines around a finding's site, as they were when it ran."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence
from typing import Any

from app.facts.lines import split_site
from runners.python_source import parse

_AROUND = 2
"""Lines before and after the statement."""
_MOST = 12
"""Of a statement's own lines."""


@dataclasses.dataclass(frozen=True)
class Excerpt:
    """A few lines of a file, one of them the site's."""

    file: str
    """As sites name it."""
    first: int
    """Number of the first of the lines."""
    lines: tuple[str, ...]
    line: int
    """Number of the site's line."""

    def row(self) -> dict[str, Any]:
        """As the report has it."""
        return dataclasses.asdict(self) | {"lines": list(self.lines)}


def excerpt(site: str | None, text: Sequence[str] | None) -> Excerpt | None:
    """The lines around `site` in a file's lines; None where there is no such line or no text."""
    place = split_site(site)
    if place is None or not text or not 1 <= place[1] <= len(text):
        return None
    file, line = place
    begins, ends = _statement(text, line)
    if ends - begins >= _MOST:
        begins, ends = max(begins, line - _AROUND), min(ends, line + _AROUND)
    first, last = max(1, begins - _AROUND), min(len(text), ends + _AROUND)
    while first < begins and not text[first - 1].strip():
        first += 1
    while last > ends and not text[last - 1].strip():
        last -= 1
    return Excerpt(file, first, tuple(text[first - 1 : last]), line)


def _statement(text: Sequence[str], line: int) -> tuple[int, int]:
    """First and last line of the innermost statement at a line; of one with a body only its head."""
    try:
        tree = parse("\n".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line, line
    found = (line, line)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or node.end_lineno is None:
            continue
        body = getattr(node, "body", None)
        ends = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
        if node.lineno <= line <= max(ends, node.lineno):
            found = node.lineno, max(ends, node.lineno)
    return found
