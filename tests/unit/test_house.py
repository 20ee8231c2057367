"""Rules of the code that no linter knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ("app", "hopscope", "pages", "probes", "runners")
SCRIPTS = ("labelled", "scripts")
"""Folders of programs as users write them."""
PRIVATE = re.compile(r"""[."' ]_[A-Za-z]""")
PATCHING = {"setattr", "delattr", "getattr", "hasattr", "patch"}


def python_files(*folders: str) -> Iterator[Path]:
    """Their Python files, but for users' programs."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not set(path.relative_to(ROOT).parts) & set(SCRIPTS):
                yield path


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name.strip("_") != ""


def private_uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Each private name that is imported, or read or patched in something that is not `self`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] in OURS:
                for name in [*module.split("."), *(alias.name for alias in names)]:
                    yield node.lineno, name
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass
            case ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called), args=args):
                for text in args[:2] if called in PATCHING else []:
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        yield node.lineno, text.value.rpartition(".")[2]


def defines(text: str, name: str) -> bool:
    """Whether a file defines a name: a module's, a class's, or what its objects keep."""
    return name in text and bool(
        re.search(
            rf"(?m)\b(?:def|class) {name}\b|^ *(?:\w+, *)*{name}\b(?:, *\w+)* *[:=]|\bself\.{name}\b[^=\n]*=",
            text,
        )
    )


def test_no_test_knows_a_private_name() -> None:
    """A test goes through the front door; what it must reach deserves a public name."""
    used: dict[str, list[str]] = {}
    for path in python_files("tests", "benchmarks"):
        text = path.read_text("utf-8")
        for line, name in private_uses(ast.parse(text)) if PRIVATE.search(text) else ():
            if is_private(name) and not defines(text, name):
                used.setdefault(name, []).append(f"{path.relative_to(ROOT)}:{line} {name}")
    ours = [path.read_text("utf-8") for path in python_files(*OURS)]
    assert [use for name in used if any(defines(text, name) for text in ours) for use in used[name]] == []


FRAMEWORK = re.compile("tensorflow|mxnet|keras|gluon", re.IGNORECASE)
DIALECTS = (
    "app/diagnosis/causes/",
    "app/diagnosis/dialects/",
    "app/facts/dialects/",
    "app/facts/kernels/",
    "app/fixes/",
    "app/preflight/dialects/",
    "runners/catalogue.py",
    "runners/environments/frameworks.py",
    "runners/programs/",
)
"""Where frameworks are named: causes and their fixes, dialects, kernel tables, descriptors, and programs."""
NAMED_ELSEWHERE: dict[str, str] = {}
"""What is not clean yet, with the reason."""


def names_in(path: Path, pattern: re.Pattern[str] = FRAMEWORK) -> list[int]:
    """The lines with an identifier, a module or a text that has it; docstrings and comments are free."""
    text = path.read_text("utf-8")
    if not pattern.search(text):
        return []
    tree = ast.parse(text)
    prose = {
        statement.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    }
    return sorted(
        {
            node.lineno
            for node in ast.walk(tree)
            if node not in prose and any(pattern.search(word) for word in _words(node))
            if isinstance(node, ast.stmt | ast.expr | ast.arg | ast.keyword)
        }
    )


def _words(node: ast.AST) -> list[str]:
    match node:
        case ast.Constant(value=str(word)) | ast.Name(id=word) | ast.Attribute(attr=word):
            return [word]
        case ast.FunctionDef(name=word) | ast.AsyncFunctionDef(name=word) | ast.ClassDef(name=word):
            return [word]
        case ast.arg(arg=word) | ast.keyword(arg=str(word)):
            return [word]
        case ast.ImportFrom(module=module, names=names):
            return [module or "", *(alias.name for alias in names)]
        case ast.Import(names=names):
            return [alias.name for alias in names]
    return []


def test_frameworks_are_named_in_their_places_alone() -> None:
    """To add a framework is to add its dialect: nothing else knows which there are."""
    found = {
        str(path.relative_to(ROOT)): lines
        for path in python_files("app", "hopscope", "pages", "runners")
        if (lines := names_in(path))
    }
    elsewhere = {path: lines for path, lines in found.items() if not path.startswith(DIALECTS)}
    assert {path: lines for path, lines in elsewhere.items() if path not in NAMED_ELSEWHERE} == {}
    assert set(NAMED_ELSEWHERE) - set(elsewhere) == set(), "these are clean now: take them off the list"
