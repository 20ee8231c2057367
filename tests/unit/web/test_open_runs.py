"""Open runs: shared, read on while they grow, sealed at their end, closed when nobody looks."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.store.run import RunStore, open_run
from app.web.shared import open_runs
from runners.errors import HopscopeError
from runners.runs.run import read_run
from tests.unit.traces import Trace, hop_fields, write_status


@pytest.fixture(autouse=True)
def nothing_open(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(open_runs, "LEAST_PAUSE_S", 0.0)
    monkeypatch.setattr(open_runs, "SHARE_OF_TIME", 0.0)
    monkeypatch.setattr(open_runs, "shared", open_runs.OpenRuns())
    yield


def wait_for(condition: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_viewers_share_a_run_and_its_snapshot(tmp_path: Path) -> None:
    trace = Trace(tmp_path)
    write_status(tmp_path, "running")
    key = trace.key("hop", 3, **hop_fields("cpu:1", "cpu:2"))
    run = read_run(tmp_path)
    first = open_runs.opened(run)
    assert open_runs.opened(run) is first
    snapshot = first.look(ended=False)
    assert [hop.count for hop in snapshot.hops] == [3]
    assert first.look(ended=False) is snapshot, "nothing changed"
    assert snapshot.diagram((), ()) is snapshot.diagram((), ())

    trace.writer.counts[key] = 5
    trace.key("hop", 1, **hop_fields("cpu:2", "cpu:1"))
    grown = first.look(ended=False)
    assert grown is not snapshot
    assert [hop.count for hop in grown.hops] == [5, 1]
    assert {(cell.src, cell.dst) for cell in grown.matrix.cells} == {("cpu:1", "cpu:2"), ("cpu:2", "cpu:1")}


def test_reading_takes_turns_with_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace(tmp_path)
    write_status(tmp_path, "running")
    monkeypatch.setattr(open_runs, "LEAST_PAUSE_S", 3600.0)
    known = open_runs.opened(read_run(tmp_path))
    before = known.look(ended=False)
    trace.key("hop", 1, **hop_fields("cpu:2", "cpu:1"))
    assert known.look(ended=False) is before
    assert len(known.look(ended=True).hops) == 1, "the last look is never an old one"


def test_an_ended_run_is_sealed_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    folder = tmp_path / "runs" / "one"
    trace = Trace(folder)
    trace.key("hop", 3, **hop_fields("cpu:1", "cpu:2"))
    write_status(folder)
    known = open_runs.opened(read_run(folder))
    known.look(ended=True)
    wait_for(lambda: known.store.sealed)
    assert [hop.count for hop in known.look(ended=True).hops] == [3]


def test_idle_and_removed_runs_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        Trace(tmp_path / name)
        write_status(tmp_path / name, "running")
        open_runs.opened(read_run(tmp_path / name))
    shutil.rmtree(tmp_path / "a")
    open_runs.opened(read_run(tmp_path / "b"))
    assert {path.name for path in open_runs.shared.paths} == {"b", "c"}
    monkeypatch.setattr(open_runs, "IDLE_S", -1.0)
    open_runs.opened(read_run(tmp_path / "b"))
    assert {path.name for path in open_runs.shared.paths} == {"b"}
    with pytest.raises(HopscopeError, match="no run folder"):
        open_runs.opened(read_run(tmp_path / "a"))


def test_a_run_that_is_slow_to_open_keeps_no_other_from_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One received folder that never opened held every run's page of all viewers."""
    for name in ("slow", "other"):
        Trace(tmp_path / name)
        write_status(tmp_path / name, "running")
    slow, other = read_run(tmp_path / "slow"), read_run(tmp_path / "other")
    opening, go_on = threading.Event(), threading.Event()

    def open_slowly(path: Path) -> RunStore:
        if path == slow.path:
            opening.set()
            assert go_on.wait(60)
        return open_run(path)

    monkeypatch.setattr(open_runs, "open_run", open_slowly)
    found: list[open_runs.OpenRun] = []
    viewers = [threading.Thread(target=lambda: found.append(open_runs.opened(slow))) for _ in range(2)]
    for viewer in viewers:
        viewer.start()
    assert opening.wait(60)
    assert open_runs.opened(other).path == other.path
    assert found == []
    go_on.set()
    for viewer in viewers:
        viewer.join(60)
    assert found[0] is found[1], "opened once"
