"""Runs that nobody launched: their members, their end, and which dashboard shows them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from probes.attach import attached, dashboards, run_folder
from probes.attach.members import End, enter, leave
from probes.attach.places import boot_id
from runners.runs import registry
from runners.runs.run import Run, read_run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def change(path: str, **facts: Any) -> Run:
    """The run after its first member's facts were changed."""
    file = Path(path, "status.json")
    status = json.loads(file.read_text())
    status["attached"][0] |= facts
    file.write_text(json.dumps(status))
    return read_run(Path(path))


def test_a_folder_is_whole_and_the_registry_reads_it() -> None:
    path = run_folder.make("My job!", "attached", "mxnet")
    enter(path, first=True)
    assert registry.runs() == []
    path = run_folder.show(path)
    (run,) = registry.runs()
    assert (str(run.path), run.name, run.state, run.framework) == (path, "My job!", "running", "mxnet")
    assert run.id.startswith(f"{run.id[:15]}-my-job-")
    assert (run.spec["cwd"], run.spec["python"]) == (str(Path.cwd()), sys.executable)
    assert "not kept here" in run.log.read_text()
    leave(path, End("finished"))
    assert run.reload().judge() == ("finished", "its exit status is known only to what started it")
    assert run.reload().ended_at is not None


def test_a_run_has_its_id_before_it_is_shown() -> None:
    path = run_folder.make("x", "block", None)
    shown = run_folder.show(path)
    assert [run.id for run in registry.runs()] == [Path(shown).name] == [run_folder.run_id(path)]


def test_who_comes_while_another_is_there_joins_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = attached.join("job+1", "mxnet")
    assert attached.join("job+1", "mxnet") == first
    other = attached.join("job+2", "mxnet")
    assert other != first
    leave(first, End("failed", "ValueError: x"))
    assert read_run(Path(first)).state == "failed"
    third = attached.join("job+1", "mxnet")
    assert third not in (first, other)
    Path(third, "status.json").write_text("{")
    assert attached.join("job+1", "mxnet") != third


@pytest.mark.parametrize(
    ("ends", "state", "reason"),
    [
        ([End("finished"), End("finished")], "finished", "its exit status is known only to what started it"),
        ([End("finished"), End("stopped", "interrupted")], "stopped", "process {1}: interrupted"),
        ([End("failed", "E: x"), End("stopped", "interrupted")], "failed", "process {0}: E: x"),
    ],
)
def test_the_last_one_to_leave_ends_it(
    ends: list[End], state: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = run_folder.make("x", "attached", "mxnet")
    pids = []
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        for number, pid in enumerate((os.getpid(), other.pid)):
            monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
            assert enter(path, first=number == 0)
            pids.append(pid)
        for pid, end in zip(pids, ends, strict=True):
            assert read_run(Path(path)).state == "running"
            monkeypatch.setattr(os, "getpid", lambda pid=pid: pid)
            leave(path, end)
        other.communicate(b"\n")
    assert read_run(Path(path)).judge() == (state, reason.format(*pids))


def test_a_member_that_is_gone_or_elsewhere() -> None:
    path = run_folder.make("x", "attached", "mxnet")
    enter(path, first=True)
    words = "process 1 ended without taking leave: killed, or by os._exit"
    assert change(path, pid=1, start=-5).judge() == ("lost", words)
    assert not enter(path)
    there = change(path, host="far", boot="another")
    assert there.judge() == ("running", "it runs on far, whose processes cannot be seen from here")


def test_programs_know_which_dashboard_serves(home: Path) -> None:
    assert (dashboards.serving(), dashboards.address()) == ([], "http://127.0.0.1:8501")
    with dashboards.told("http://127.0.0.1:9000", 9000):
        assert dashboards.address() == "http://127.0.0.1:9000"
        stale = {"address": "http://gone", "pid": 1, "start": -1, "boot": boot_id()}
        (home / "dashboards" / "1.json").write_text(json.dumps(stale))
        (home / "dashboards" / "2.json").write_text("{")
        assert dashboards.serving() == ["http://127.0.0.1:9000"]
    assert dashboards.serving() == []
