"""Where a run's database puts what memory does not hold."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from app.store import database


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def test_a_database_leaves_no_folder_and_needs_none(home: Path) -> None:
    made = database.Database()
    assert list(home.iterdir()) == []
    made.close()


def test_it_spills_into_the_home_and_cleans_up(home: Path) -> None:
    made = database.Database()
    run = made.query
    run("SET memory_limit = '60MB'")
    run("CREATE TABLE long AS SELECT hash(range)::VARCHAR AS text, random() AS at FROM range(3000000)")
    assert [folder.name.rsplit("-", 1)[0] for folder in home.iterdir()] == [f"spill-{os.getpid()}"]
    made.close()
    assert list(home.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(home: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    names = [f"spill-{gone.pid}-0", f"spill-{gone.pid}-1", f"spill-{os.getpid()}-9", "spill-x-y", "runs"]
    old = time.time() - 2 * 86_400
    for name in names:
        (home / name).mkdir()
        (home / name / "file").write_text("x")
        if name != names[1]:  # that one is young
            os.utime(home / name, (old, old))
    database.Database().close()
    left = sorted(folder.name for folder in home.iterdir())
    assert left == sorted(names[1:])
