"""What is deleted of blocks whose processes were killed, and what is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from probes.attach.abandoned import claim, let_go, sweep
from probes.attach.places import boot_id, host_name, started_at

NAME = ".new-20260101-000000-forbid-0000"


def made(runs: Path, **member: Any) -> Path:
    folder = runs / NAME
    folder.mkdir(parents=True)
    over = {"pid": _ended(), "start": 1, "boot": boot_id(), "host": host_name(), "left": None}
    (folder / "status.json").write_text(json.dumps({"state": "running", "attached": [over | member]}))
    return folder


def _ended() -> int:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_what_a_killed_process_left_is_deleted(tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder / "trace").mkdir()
    run = tmp_path / "20260101-000000-forbid-1111"
    run.mkdir()
    assert sweep(str(tmp_path)) == [NAME]
    assert list(tmp_path.iterdir()) == [run]


def test_what_belongs_to_a_process_that_runs_is_not(tmp_path: Path) -> None:
    made(tmp_path, pid=os.getpid(), start=started_at(os.getpid()))
    assert sweep(str(tmp_path)) == []


def test_nor_what_is_held_though_nothing_of_its_process_can_be_seen(tmp_path: Path) -> None:
    folder = made(tmp_path)
    held = claim(str(folder))
    assert sweep(str(tmp_path)) == []
    let_go(str(folder), held)
    assert sweep(str(tmp_path)) == [NAME]


@pytest.mark.parametrize("member", [{"host": "another"}, {"host": None}])
def test_nor_what_another_machine_made(tmp_path: Path, member: dict[str, Any]) -> None:
    made(tmp_path, **member)
    assert sweep(str(tmp_path)) == []


def test_nor_what_is_being_made(tmp_path: Path) -> None:
    folder = tmp_path / NAME
    folder.mkdir()
    assert sweep(str(tmp_path)) == []
    day_ago = time.time() - 86_400
    os.utime(folder, (day_ago, day_ago))
    assert sweep(str(tmp_path)) == [NAME]


def test_a_link_is_left_alone_and_no_folder_at_all_is_no_failure(tmp_path: Path) -> None:
    target = made(tmp_path / "elsewhere")
    (tmp_path / NAME).symlink_to(target)
    assert sweep(str(tmp_path)) == []
    assert target.is_dir()
    assert sweep(str(tmp_path / "none")) == []


def test_it_was_before_this_boot(tmp_path: Path) -> None:
    made(tmp_path, boot="of-an-earlier-start")
    assert sweep(str(tmp_path)) == [NAME]
