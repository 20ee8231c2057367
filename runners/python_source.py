"""Parsing Python's source, one thread at a time.

CPython 3.11 counts the depth of a tree that it builds for all threads together. Where a collection of garbage
lets another thread parse in the middle, the first one fails: "SystemError: AST constructor recursion depth
mismatch" (github.com/python/cpython/issues/106905).
"""

from __future__ import annotations

import ast
import threading

_one_at_a_time = threading.RLock()


def parse(source: str | bytes) -> ast.Module:
    """Return the tree of a file's text. Raises as `ast.parse` does."""
    with _one_at_a_time:
        return ast.parse(source)  # noqa: TID251 - here it is guarded


def parse_expression(source: str) -> ast.expr:
    """Return the tree of one expression. Raises as `ast.parse` does."""
    with _one_at_a_time:
        return ast.parse(source, mode="eval").body  # noqa: TID251 - here it is guarded
