"""Graphs of what a coordinator has other processes run, read beside the program."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from probes.tf import remote

WORKER = "/job:worker/replica:0/task:1"


class Recorder:
    """As much of a recording as is asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ending = str(folder), False
        self.tickers: list[Any] = []
        self.untold: list[str] = []

    def graph(self, **fields: Any) -> int:
        return 7

    def unseen(self, what: str, why: str, count: int = 1) -> None:
        self.untold.append(what)


def coordinator(folder: Path) -> tuple[remote.Remote, Recorder]:
    recording: Any = Recorder(folder)
    note = SimpleNamespace(label="step", ops={"a": None}, steps=1)
    return remote.Remote(recording, {"__inference_step_1": note}), recording


def context(device: str, job: str = "chief") -> Any:
    return SimpleNamespace(_server_def=SimpleNamespace(job_name=job, task_index=0), device_name=device)


def test_only_a_scope_of_another_task_sends_a_call_elsewhere(tmp_path: Path) -> None:
    calls, _ = coordinator(tmp_path)
    assert calls.task(context(f"{WORKER}/device:CPU:0")) == calls.task(context(WORKER)) == WORKER
    for own in ("", "/device:GPU:0", "/job:chief/replica:0/task:0/device:CPU:0"):
        assert calls.task(context(own)) == ""
    assert calls.task(SimpleNamespace(_server_def=None, device_name=WORKER)) == ""


def test_a_graph_that_nobody_wrote_is_told_when_the_process_ends(tmp_path: Path) -> None:
    calls, recording = coordinator(tmp_path)
    (tmp_path / "12.graphs").mkdir()
    assert calls.called("__inference_step_1", WORKER, [], 3) == 7
    calls.read()
    assert recording.untold == []
    recording.ending = True
    calls.read()
    assert recording.untold == ["ops inside step, run by worker:1"]
    assert list(tmp_path.iterdir()) == []


def test_the_end_waits_for_a_graph_that_is_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, let_go, written = threading.Event(), threading.Event(), []

    class OneGraph:
        taken = False

        def take(self, function: str, task: str) -> Any:
            if self.taken:
                return None
            self.taken = True
            found.set()
            assert let_go.wait(30)
            return object()

    def read_placed(*args: Any) -> Any:
        written.append((args[-1].number, args[-1].process))
        return SimpleNamespace(observe={})

    monkeypatch.setattr(remote, "Dumps", lambda *_folder: OneGraph())
    monkeypatch.setattr(remote, "read_placed", read_placed)
    calls, recording = coordinator(tmp_path)
    calls.called("__inference_step_1", WORKER, [], 3)
    ticking = threading.Thread(target=calls.read)
    ticking.start()
    assert found.wait(30)
    recording.ending = True
    ending = threading.Thread(target=calls.read)
    ending.start()
    let_go.set()
    ticking.join(30)
    ending.join(30)
    assert written == [(7, "worker:1/")]
    assert recording.untold == []
