"""What is read of the registry follows what changed, not how many runs there are or who asks."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from runners.runs import registry
from runners.runs.run_index import RunIndex

RUNS = 40
LONG_AGO = time.time() - 3600


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    for number in range(RUNS):
        make(tmp_path / "runs" / f"20260101-0000{number:02d}-x-{number:04d}")
    return tmp_path


def make(path: Path, **status: Any) -> Path:
    path.mkdir(parents=True)
    (path / "spec.json").write_text(json.dumps({"name": "x"}))
    put(path, **status)
    settle(path)
    return path


def put(path: Path, **status: Any) -> None:
    """Replace the status as its writers do."""
    (path / "new").write_text(json.dumps({"state": "finished", "exit_code": 0} | status))
    (path / "new").rename(path / "status.json")


def settle(path: Path) -> None:
    for one in (path / "spec.json", path / "status.json", path):
        os.utime(one, (LONG_AGO, LONG_AGO))


def index() -> RunIndex:
    return RunIndex(registry.entries, registry.read_entry, registry.newest_first)


def test_an_unchanged_registry_is_not_read_again(home: Path, opened: list[str]) -> None:
    made = index()
    first = made.look()
    assert len(first) == RUNS
    assert len(opened) == 2 * RUNS
    del opened[:]
    for _ in range(5):
        assert made.look() is first
    assert opened == []


def test_only_what_changed_is_read(home: Path, opened: list[str]) -> None:
    made = index()
    before = made.look()
    changed, gone = before[3].path, before[4].path
    put(changed, state="failed", exit_code=1)
    registry.remove(before[4])
    make(home / "runs" / "20260102-000000-new-0000")
    del opened[:]
    after = made.look()
    assert {name.split("/")[0] for name in opened} == {changed.name, "20260102-000000-new-0000"}
    assert next(run.id for run in after) == "20260102-000000-new-0000"
    assert gone not in {run.path for run in after}
    assert next(run for run in after if run.path == changed).state == "failed"


def test_a_change_at_the_moment_of_reading_is_not_missed(home: Path) -> None:
    """The clock of a file system is coarse: two changes may have one time."""
    made = index()
    path = made.look()[0].path
    put(path, state="failed", exit_code=1)
    now = time.time()
    os.utime(path, (now, now))
    assert made.look()[0].status["exit_code"] == 1
    put(path, state="failed", exit_code=2)
    os.utime(path, (now, now))
    assert made.look()[0].status["exit_code"] == 2


def test_a_status_written_in_place_while_it_goes_on_is_seen(home: Path) -> None:
    path = make(home / "runs" / "20260103-000000-live-0000", state="running")
    made = index()
    assert made.look()[0].status["state"] == "running"
    (path / "status.json").write_text('{"state": "finished"}')
    assert made.look()[0].status["state"] == "finished"


def test_all_who_list_the_registry_share_what_is_known(home: Path, opened: list[str]) -> None:
    registry.runs()
    del opened[:]
    registry.runs()
    registry.listed("20260101-000003-x-0003")
    assert opened == []
