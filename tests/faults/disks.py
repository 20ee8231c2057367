"""A disk that fills up while a run is recorded and while it is sealed, and a home that is read-only."""

from __future__ import annotations

import contextlib
import os
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.reports.run_report import run_report
from app.store.run import open_run
from runners.errors import HopscopeError
from runners.runs import registry
from runners.runs.run import Run
from tests.faults.bench import Skipped, bench, until

LEVELS = (0, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20)
"""Bytes that are left when the program begins to record: the last hold all of it."""
STEPS = 20_000
SIZE = "24m"
_STRIDE = 3
"""Few rounds meet low levels and high ones."""
_GAP = re.compile(rb"\n?hopscope: \d+ bytes of output were not kept here: [^\n]*\n")


def recording(folder: Path, number: int, chance: random.Random) -> None:
    """Full while it records: the program ends as it would, and what is not there is counted."""
    with _disk(folder) as disk, bench(folder / "work", disk / "home") as made:
        run = made.launch(steps=STEPS)
        until(lambda: made.ledger().done, "the program has begun")
        _fill(disk, _level(number) + chance.randrange(4096))
        run = registry.wait(run, 60)
        assert (run.state, run.exit_code) == ("finished", 0), run.judge()
        assert made.ledger().done == STEPS
        first = _check_counted(run)
        (disk / "fill").unlink()
        assert _check_counted(run)["unseen"] == first["unseen"], "the report is another with room"
        made.check_ended(run, whole_log=False)


def sealing(folder: Path, number: int, chance: random.Random) -> None:
    """Full while it is sealed: the report is the same, no half set of tables stays, a later one is whole."""
    with _disk(folder) as disk, bench(folder / "work", disk / "home") as made:
        run = registry.wait(made.launch(steps=STEPS), 60)
        assert run.state == "finished", run.judge()
        wanted = run_report(run.path, seal=False)
        # Whole tables of this run have about 150 KiB.
        _fill(disk, _level(number) // 8 + chance.randrange(4096))
        assert run_report(run.path) == wanted, "the report is another without room"
        left = [entry.name for entry in run.path.iterdir() if entry.name.startswith(".tables-")]
        assert not left, f"half a set of tables stayed: {left}"
        (disk / "fill").unlink()
        assert run_report(run.path) == wanted
        with contextlib.closing(open_run(run.path)) as store:
            assert store.seal(), "it was not sealed with room"
        made.check_ended(run)


def read_only(folder: Path, _number: int, _chance: random.Random) -> None:
    """A home that can't be written: runs are listed and reported, a launch is refused in a line."""
    with _disk(folder) as disk, bench(folder / "work", disk / "home") as made:
        run = registry.wait(made.launch(steps=100), 60)
        wanted = run_report(run.path, seal=False)
        # Whoever still writes there would be in the way.
        made.check_ended(run)
        _mount("-o", "remount,ro", str(disk))
        try:
            assert run_report(run.path) == wanted
            assert [known.id for known in registry.runs()] == [run.id]
            try:
                made.launch(steps=1)
            except HopscopeError as error:
                assert "\n" not in str(error), error
            else:
                raise AssertionError("a launch was not refused")
            try:
                registry.remove(run)
            except HopscopeError as error:
                assert "\n" not in str(error), error
            else:
                raise AssertionError("a run of a read-only home was removed")
        finally:
            _mount("-o", "remount,rw", str(disk))
        made.check_ended(registry.wait(made.launch(steps=100), 60))


def _check_counted(run: Run) -> dict[str, Any]:
    report = run_report(run.path, seal=False)
    with contextlib.closing(open_run(run.path)) as store:
        (key,) = store.keys("op")
        assert key.count == STEPS, f"{key.count} steps are counted"
        kept = store.events
    counted = sum(row["count"] for row in report["unseen"] if "record" in row["what"])
    assert kept + counted >= STEPS, f"{STEPS - kept - counted} records are neither there nor counted"
    assert kept == STEPS or report["unseen"], "a part is told as the whole"
    printed = b"".join(b"step %d\n" % number for number in range(1, STEPS + 1))
    log = _GAP.sub(b"", run.log.read_bytes())
    lost = run.status.get("output_lost", 0)
    assert abs(len(log) + lost - len(printed)) <= 2 * len(_GAP.findall(run.log.read_bytes())), (
        f"{len(printed) - len(log) - lost} bytes of output are neither there nor counted"
    )
    if lost:
        assert report["unseen"][0]["what"] == "bytes of the program's output", report["unseen"]
    return report


@contextlib.contextmanager
def _disk(folder: Path) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={SIZE}", "none", str(disk))
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"no small file system can be mounted here: {done.stderr.strip()}")


def _level(number: int) -> int:
    return LEVELS[_STRIDE * number % len(LEVELS)]


def _fill(disk: Path, left: int) -> None:
    with (disk / "fill").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while (room := _room(disk) - left) > 0:
            file.write(bytes(min(room, 1 << 16)))


def _room(disk: Path) -> int:
    state = os.statvfs(disk)
    return state.f_bavail * state.f_bsize
