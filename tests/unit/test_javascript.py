"""The components' JavaScript under node's own test runner; `tests/js/run` lints it and checks types too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1] / "js"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
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
