"""What the files of a program's folder import: the script runs alone, the others know of runners only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners import catalogue
from runners.program import HELPERS

FRAMEWORKS = {"tensorflow": {"tensorflow", "tf_keras"}, "mxnet": {"mxnet"}}
SHARED = {folder.name for folder in HELPERS.iterdir() if folder.is_dir()}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield str(node.module).partition(".")[0]


@pytest.mark.parametrize("name", catalogue.PROGRAMS)
def test_a_programs_files_import_what_they_may(name: str) -> None:
    program = catalogue.PROGRAMS[name]
    files = {path.name: path for path in program.script.parent.glob("*.py")}
    assert {"train.py", "about.py"} <= set(files) <= {"train.py", "about.py", "check.py"}
    own = FRAMEWORKS[program.framework] | SHARED | {"numpy"}
    assert set(imported(files.pop("train.py"))) - sys.stdlib_module_names <= own
    for path in files.values():
        assert set(imported(path)) - sys.stdlib_module_names == {"runners"}
