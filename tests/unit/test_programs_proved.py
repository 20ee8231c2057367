"""Every program of the catalogue is run to its end by a test, in three steps, and its claim judged there.

Read from the tests' own text: a test proves a program where it calls `demo("NAME", ..)`, which demands a good
end with nothing left behind, and `verdicts` beside it. The MXNet lessons that their driver runs stand in a
table of their own, with the verdicts that each must come to.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from app.lessons.catalogue import LESSONS
from runners.catalogue import PROGRAMS
from tests.integration import test_lessons_mxnet
from tests.integration.programs import STEPS

FOLDER = Path(__file__).parents[1] / "integration"


def calls(node: ast.AST, name: str) -> Iterator[ast.Call]:
    """The calls of a function of this name in it."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == name:
            yield inner


def proved_by_demo() -> dict[str, list[str]]:
    """Program -> the tests that run it through `demo` and judge it."""
    found: dict[str, list[str]] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        for test in ast.walk(ast.parse(path.read_text())):
            if not isinstance(test, ast.FunctionDef) or not test.name.startswith("test_"):
                continue
            if not any(calls(test, "verdicts")):
                continue
            for call in calls(test, "demo"):
                first = call.args[0] if call.args else None
                other_steps = any(word.arg == "steps" for word in call.keywords)
                if isinstance(first, ast.Constant) and not other_steps:
                    found.setdefault(str(first.value), []).append(f"{path.name}::{test.name}")
    return found


def proved_by_lessons() -> set[str]:
    """The programs whose lessons a test has the driver run, each of their runs in so many steps."""
    return {
        name
        for name in test_lessons_mxnet.EXPECTED
        if all(variant.extra or variant.steps == STEPS for variant in LESSONS[name].variants)
    }


def test_each_program_is_run_and_judged() -> None:
    assert STEPS == 3
    by_demo, by_lessons = proved_by_demo(), proved_by_lessons()
    assert set(PROGRAMS) - set(by_demo) - by_lessons == set()
    assert set(by_demo) | by_lessons <= set(PROGRAMS)
