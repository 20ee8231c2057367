"""Which runs go on, and what their processes take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.components.stream.going_on import GoingOn
from runners.runs.processes import boot_id, read_stat
from runners.runs.registry import runs_folder

BUSY = "print(1, flush=True); input(); print(sum(i for i in range(10**7)), flush=True); input()"


def write_run(name: str, state: str, **spec: Any) -> Path:
    """A run's folder whose supervisor is this process."""
    folder = runs_folder() / name
    folder.mkdir(parents=True)
    stat = read_stat(os.getpid())
    assert stat is not None
    watcher = {"supervisor_pid": os.getpid(), "supervisor_start": stat.start, "boot_id": boot_id()}
    (folder / "spec.json").write_text(json.dumps({"name": "train", **spec}))
    (folder / "status.json").write_text(json.dumps({"state": state, **watcher}))
    return folder


@pytest.fixture
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty $HOPSCOPE_HOME whose runs nobody is to stop: their supervisor would be this process."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process of this one that works when it gets a line, says so and waits."""
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, "two words"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_no_run_is_none(own_home: Path) -> None:
    assert GoingOn().look() == []


def test_tells_devices_and_what_each_process_takes(own_home: Path, child: subprocess.Popen[bytes]) -> None:
    devices = {"gpu:0": {"uuid": "GPU-1"}, "cpu:1": {"stand_in": True}}
    write_run("20260101-000000-train-0000", "running", framework="mxnet", device_map=devices)
    going_on = GoingOn()

    def own() -> dict[str, Any]:
        (run,) = going_on.look()
        assert (run["id"], run["name"], run["state"]) == ("20260101-000000-train-0000", "train", "running")
        assert (run["framework"], run["devices"]) == ("MXNet", ["gpu:0", "cpu:1"])
        assert run["stand_ins"] == ["cpu:1"]
        (process,) = [process for process in run["processes"] if process["pid"] == child.pid]
        assert process["command"].endswith("two words")
        assert process["memory_bytes"] > 2**20
        return dict(process)

    assert own()["cpu_percent"] is None
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(b"\n")
    child.stdin.flush()
    child.stdout.readline()
    assert own()["cpu_percent"] > 0


def test_what_has_ended_is_not_read_again(own_home: Path) -> None:
    ended = write_run("20260101-000000-old-0000", "finished")
    going_on = GoingOn()
    assert going_on.look() == []
    (ended / "status.json").unlink()
    (ended / "spec.json").unlink()
    assert going_on.look() == []
    write_run("20260102-000000-new-0000", "running")
    assert [run["id"] for run in going_on.look()] == ["20260102-000000-new-0000"]
