"""The components' JavaScript under node's own test runner; `tests/js/run` lints it and checks types too."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests" / "js"
OLDEST = (20, 19)
"""The first node that all of it runs on."""


def node_version() -> tuple[int, ...]:
    """Return node's version; (0,) without node."""
    if shutil.which("node") is None:
        return (0,)
    told = subprocess.run(
        ["node", "--version"], capture_output=True, text=True, check=False, timeout=60
    ).stdout
    return tuple(int(number) for number in re.findall(r"\d+", told)) or (0,)


def test_the_types_of_every_module_are_checked() -> None:
    modules = sorted((ROOT / "app/components").glob("*/*.js"))
    assert modules
    assert [module.name for module in modules if not module.read_text().startswith("// @ts-check\n")] == []


@pytest.mark.skipif(node_version() < OLDEST, reason="there is no node 20.19 or newer")
def test_node_tests_pass() -> None:
    files = sorted(
        str(file.relative_to(TESTS)) for file in TESTS.glob("*/*.test.js") if "node_modules" not in file.parts
    )
    assert files
    ran = subprocess.run(
        ["node", "--test", "--test-reporter", "spec", *files],
        cwd=TESTS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stdout
