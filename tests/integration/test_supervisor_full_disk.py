"""Runs on a disk that is full: a small file system of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.errors import HopscopeError
from runners.plan import launcher
from runners.plan.plan import LaunchOptions, Plan
from runners.runs import registry
from runners.runs.run import Run
from runners.supervise.sample_rows import SAMPLES_NAME
from tests.integration.waiting import LONG_S, until

FILL = """
import sys
with open(sys.argv[1], "wb", buffering=0) as file:
    try:
        while True:
            file.write(bytes(4096))
    except OSError as error:
        reason = error
for number in range(100_000):
    print("the log has no room for this either")
sys.exit(7)
"""


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of one megabyte that holds the runs."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small file system can be mounted here: {mounted.stderr.strip()}")
    monkeypatch.setenv("HOPSCOPE_HOME", str(disk / "home"))
    yield disk
    for run in registry.runs():
        if not run.ended:
            registry.stop(run, grace_s=0)
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def plan(tmp_path: Path, text: str, *arguments: str) -> Plan:
    script = tmp_path / "script.py"
    script.write_text(text)
    return launcher.plan_script(
        [str(script), *arguments], launch=LaunchOptions(python=sys.executable, record=False)
    )


def test_a_run_that_fills_the_disk_still_has_its_end_written_down(disk: Path, tmp_path: Path) -> None:
    run = launcher.launch(plan(tmp_path, FILL, str(disk / "fill")))
    run = registry.wait(run, LONG_S)
    assert os.statvfs(disk).f_bavail <= 1
    assert (run.state, run.exit_code) == ("failed", 7)
    assert run.problem is None
    assert run.status["output_lost"] + run.log.stat().st_size == 100_000 * len(
        "the log has no room for this either\n"
    )
    assert run.status["output_lost_why"] == "No space left on device"


def test_a_launch_on_a_full_disk_is_one_line_and_leaves_nothing(disk: Path, tmp_path: Path) -> None:
    earlier = registry.wait(launcher.launch(plan(tmp_path, "pass")), LONG_S)
    with (disk / "fill").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    with pytest.raises(HopscopeError, match=r"No space left on device.*free some space") as refusal:
        launcher.launch(plan(tmp_path, "pass"))
    assert "\n" not in str(refusal.value)
    assert [run.id for run in registry.runs()] == [earlier.id]
    assert [entry.name for entry in registry.runs_folder().iterdir()] == [earlier.id]
    (disk / "fill").unlink()
    assert registry.wait(launcher.launch(plan(tmp_path, "pass")), LONG_S).state == "finished"


def test_without_a_spare_the_end_is_written_when_there_is_room_again(disk: Path, tmp_path: Path) -> None:
    run = launcher.launch(plan(tmp_path, "import signal; signal.pause()"))
    (run.path / ".status.spare").unlink()
    with (disk / "fill").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    registry.request_stop(run)
    assert run.status["pid"] > 0
    until(lambda: not Path(f"/proc/{run.status['pid']}").exists())
    # The supervisor lives and tries again; the old status is whole.
    assert run.reload().state == "running"
    (disk / "fill").unlink()
    assert registry.wait(run, LONG_S).state == "stopped"


def sampled(run: Run) -> list[dict[str, Any]]:
    lines = (run.path / SAMPLES_NAME).read_text().splitlines()
    return [json.loads(line) for line in lines if line]


def fill(disk: Path, run: Run) -> None:
    """Leave no byte, not even in the last block of the run's samples."""
    with (disk / "fill").open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        while True:
            file.write(bytes(4096))
    with (run.path / SAMPLES_NAME).open("ab", buffering=0) as rows, pytest.raises(OSError, match="No space"):
        while True:
            rows.write(b"\n")


def test_samples_that_find_no_room_are_counted_in_the_next_row(disk: Path, tmp_path: Path) -> None:
    run = launcher.launch(plan(tmp_path, "import signal; signal.pause()"))
    until(lambda: sampled(run))
    fill(disk, run)
    last = sampled(run)[-1]
    until(lambda: time.time() - last["t"] > 4)
    assert run.reload().state == "running"
    (disk / "fill").unlink()
    (after,) = until(lambda: [row for row in sampled(run) if row["t"] > last["t"]][:1])
    assert after["full"] is True
    assert after["lost"] >= 2
    assert registry.stop(run).status.get("samples_lost") is None


def test_samples_that_found_no_room_to_the_end_are_counted_in_the_status(disk: Path, tmp_path: Path) -> None:
    run = launcher.launch(plan(tmp_path, "import signal; signal.pause()"))
    until(lambda: sampled(run))
    fill(disk, run)
    last = sampled(run)[-1]
    until(lambda: time.time() - last["t"] > 4)
    run = registry.stop(run)
    assert run.state == "stopped"
    assert run.status["samples_lost"] >= 2
