"""Rules of the code that no linter knows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = ("app", "hopscope", "pages", "probes", "runners")
SCRIPTS = ("labelled", "scripts")
"""Folders of programs as users write them."""
PATCHING = {"setattr", "delattr", "getattr", "hasattr", "patch"}


def python_files(*folders: str) -> Iterator[Path]:
    """Their Python files, but for users' programs."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not set(path.relative_to(ROOT).parts) & set(SCRIPTS):
                yield path


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name.strip("_") != ""


def private_names(tree: ast.Module) -> set[str]:
    """The private names that a file defines: modules' and classes', and what objects keep."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                names.add(name)
    return {name for name in names if is_private(name)}


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


def test_no_test_knows_a_private_name() -> None:
    """A test goes through the front door; what it must reach deserves a public name."""
    ours = {name for path in python_files(*OURS) for name in private_names(tree_of(path))}
    found = []
    for path in python_files("tests", "benchmarks"):
        tree = tree_of(path)
        known = ours - private_names(tree)
        found += [
            f"{path.relative_to(ROOT)}:{line} {name}" for line, name in private_uses(tree) if name in known
        ]
    assert found == []
