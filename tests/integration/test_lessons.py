"""Lessons run by the driver in a process of its own: stopped, killed, gone on with, and judged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.cli import dispatch
from app.lessons import batch, detached
from app.lessons.batch import Batch
from app.lessons.judged import lessons
from runners.plan.plan import ROOT
from runners.runs import registry
from runners.runs.processes import send
from runners.runs.run import Run
from tests.integration.waiting import until

FIRST, SECOND = "mx-contexts", "mx-module-data-parallel"
WANTED = (FIRST, SECOND)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    yield tmp_path
    now = batch.state()
    # Of a command that was run here, this process was the driver.
    if now is not None and now.going_on and now.driver is not None and now.driver.pid != os.getpid():
        send(now.driver, signal.SIGKILL)
    for run in registry.runs():
        if not run.ended:
            registry.stop(run, 0.0)


def now() -> Batch:
    found = batch.state()
    assert found is not None
    return found


def states(found: Batch) -> list[tuple[str, str]]:
    return [(item.variant, item.state) for item in found.items]


def running(variant: str) -> Run:
    """The run of a variant, once the driver has started it."""

    def look() -> str | None:
        item = now().current
        return item.run if item is not None and item.variant == variant else None

    run_id = until(look)
    assert run_id is not None
    return registry.find(run_id)


def start_from_a_server_that_ends() -> None:
    code = f"from app.lessons import detached; detached.start({list(WANTED)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=120)


def command(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[dict[str, Any], str]:
    assert dispatch.main(["lessons", *words, "--json"]) == 0
    done = capsys.readouterr()
    found: dict[str, Any] = json.loads(done.out.splitlines()[-1])
    return found, done.err


def test_lessons_are_run_stopped_and_gone_on_with(
    mx_python: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start_from_a_server_that_ends()
    with pytest.raises(batch.Busy):
        detached.start([FIRST])

    # Stopped in the middle: what has finished counts, the rest waits.
    stopped = running("even")
    assert stopped.spec["lesson"] == {"program": SECOND, "variant": "even"}
    detached.stop()
    until(lambda: not now().going_on)
    assert now().state == "stopped"
    assert states(now()) == [("default", "done"), ("even", "stopped"), ("weighted", "waiting")]
    assert stopped.reload().state == "stopped"
    assert [one.state for one in lessons(WANTED)] == ["judged", "not run"]

    # Gone on with, and killed with the run underway, which its supervisor brings to its end.
    detached.start(WANTED)
    left = running("even")
    driver = now().driver
    assert driver is not None
    send(driver, signal.SIGKILL)
    until(lambda: now().state == "interrupted")
    assert states(now()) == [("even", "stopped"), ("weighted", "waiting")]
    until(lambda: left.reload().state == "finished")

    # The command goes on where that was, and tells the verdicts.
    found, told = command(capsys, *WANTED, "--run")
    assert [(item["variant"], item["state"]) for item in found["batch"]["items"]] == [("weighted", "done")]
    assert "[1/1] mx-module-data-parallel, weighted: run " in told
    first, second = found["lessons"]
    assert first["state"] == second["state"] == "judged"
    assert [row["verdict"] for row in first["verdicts"]] == ["holds", "holds", "does not hold", "holds"]
    assert "the recorder saw arrays made on cpu:0" in first["verdicts"][-1]["text"]
    assert [row["verdict"] for row in second["verdicts"]] == ["holds", "holds"]
    assert second["runs"][0]["run"] == left.id
    assert len(registry.runs()) == 4

    # Nothing is left to run, and without --run nothing ever is.
    again, told = command(capsys, *WANTED, "--run")
    assert again["batch"]["items"] == []
    assert "every lesson that can be run here has its runs" in told
    assert command(capsys, *WANTED)[0]["lessons"] == found["lessons"]
    assert len(registry.runs()) == 4
    registry.remove(left)
    assert [one["state"] for one in command(capsys, *WANTED)[0]["lessons"]] == ["judged", "not run"]
