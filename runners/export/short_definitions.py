"""A definition's source made shorter for a copy: documentation of one line, options without their help."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from runners.python_source import parse

WIDTH = 110
"""Characters of a line."""
_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def shortened(source: str) -> str:
    """Return a definition with the first line of each documentation, and options without their help.

    An option stands in a line where it fits. Comments, and all that is done, stay as they are.
    """
    lines = source.splitlines()
    tree = parse(source)
    for first, last, new in sorted([*_documentation(tree), *_options(tree)], reverse=True):
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
        lines[first - 1 : last] = textwrap.indent(new, indent).splitlines()
    return "\n".join(lines)


def _documentation(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """First and last line of each documentation of several lines, and what to have there."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (told := ast.get_docstring(node)) and "\n" in told:
            text = node.body[0]
            first, rest = told.splitlines()[0], node.body[1:]
            # A body needs a statement: its documentation, where it has no other.
            if first or not rest:
                yield text.lineno, text.end_lineno or text.lineno, f'"""{first}"""'


def _options(tree: ast.Module) -> Iterator[tuple[int, int, str]]:
    """First and last line of each statement that adds an option, and it without the help."""
    for node in ast.walk(tree):
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(node, ast.Expr) or not isinstance(call, ast.Call):
            continue
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "add_argument":
            continue
        call.keywords = [keyword for keyword in call.keywords if keyword.arg != "help"]
        yield node.lineno, node.end_lineno or node.lineno, _written(call, node.col_offset)


def _written(call: ast.Call, indent: int) -> str:
    text = ast.unparse(call)
    if '"' not in text:
        text = text.replace("'", '"')
    if indent + len(text) <= WIDTH:
        return text
    head, _, rest = text.partition("(")
    return f"{head}(\n    {rest[:-1]}\n)"
