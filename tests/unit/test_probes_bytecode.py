"""The recorder's bytecode is whole or not there: another process would fail to load what a limit cut."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("limit", [4095, None])
def test_bytecode_is_kept_only_without_a_limit_on_file_sizes(tmp_path: Path, limit: int | None) -> None:
    shutil.copytree(ROOT / "probes", tmp_path / "probes", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "run").mkdir()

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    variables = {
        "PYTHONPATH": str(tmp_path / "probes" / "inject"),
        "HOPSCOPE_TRACE": "1",
        "HOPSCOPE_RUN_DIR": str(tmp_path / "run"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    code = "import sys; print('_hopscope.boot' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | variables,
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == "True\n", done.stderr
    kept = [file for file in (tmp_path / "probes").rglob("*.pyc") if file.parts[-3] != "inject"]
    assert bool(kept) == (limit is None)
