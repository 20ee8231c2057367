"""Runs that earlier versions recorded open, and give the report that they gave."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kept.differences import differences
from tests.golden import runs
from tests.golden.anonymous import foreign_paths

ANEW = "if this is meant, `python -m tests.golden write` makes the golden files anew"


@pytest.mark.parametrize("name", runs.reported())
def test_a_golden_run_has_its_golden_report(name: str, tmp_path: Path) -> None:
    """WHEN an older recording is opened, and again from its tables THEN the report is the same."""
    run = runs.unpack(name, tmp_path)
    golden = runs.golden_report(name)
    for opened in ("as recorded", "as sealed"):
        found = list(differences(golden, runs.report(run)))
        assert not found, "\n".join([f"{name}, {opened}: golden -> now; {ANEW}", *found[:20]])


def test_the_golden_runs_are_few_and_small() -> None:
    files = [path for path in runs.FOLDER.rglob("*.xz") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 300_000
    assert set(runs.reported()) <= set(runs.names())


@pytest.mark.parametrize("name", runs.names())
def test_a_golden_run_names_no_folder_of_the_machine(name: str, tmp_path: Path) -> None:
    run = runs.unpack(name, tmp_path)
    left = {path for file in run.rglob("*") if file.is_file() for path in foreign_paths(file.read_bytes())}
    assert left == set()
