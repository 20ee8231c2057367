"""What a run's status counts as not kept stands first among what could not be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.reports.run_report import run_report
from app.store.run import open_run
from tests.unit.traces import SECOND, Trace, write_status


def recorded(folder: Path, **status: object) -> Path:
    trace = Trace(folder)
    trace.unseen("ops of a module", 3, "imported before the recorder")
    trace.event("op", SECOND, trace.key("op", 1))
    trace.close()
    write_status(folder, "finished", **status)
    return folder


def test_output_and_samples_without_room_are_said_first_with_how_much(tmp_path: Path) -> None:
    folder = recorded(
        tmp_path,
        output_lost=4096,
        output_lost_why="No space left on device",
        samples_lost=12,
        samples_cut="the process that sampled the run was killed",
    )
    (folder / "samples.jsonl").touch()
    rows = [
        ("bytes of the program's output", 4096, "out.log could not keep them: No space left on device"),
        ("samples of the devices", 12, "there was no room for them on the disk"),
        ("the end of the samples of the devices", 1, "the process that sampled the run was killed"),
        ("ops of a module", 3, "imported before the recorder"),
    ]
    report = run_report(folder, seal=False)
    assert [tuple(row.values()) for row in report["unseen"]] == rows
    first = "Not seen: bytes of the program's output (4 KiB): out.log could not keep them"
    assert report["findings"][0]["summary"] == f"{first}: No space left on device."
    store = open_run(folder)
    assert store.seal()
    assert [(row.what, row.count, row.why) for row in store.unseen()] == rows
    store.close()


def test_files_that_are_links_are_named(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "run")
    (tmp_path / "secret").write_text("key")
    for name in ("out.log", "samples.jsonl"):
        (folder / name).symlink_to(tmp_path / "secret")
    unseen = run_report(folder, seal=False)["unseen"]
    why = "is not read: it is a link, which is not followed"
    assert [(row["what"], row["why"]) for row in unseen[:2]] == [
        ("the program's output", f"out.log {why}"),
        ("samples of the devices", f"samples.jsonl {why}"),
    ]


@pytest.mark.parametrize("damaged", ["many", -1, True, None, [], {}])
def test_a_damaged_count_is_none(tmp_path: Path, damaged: object) -> None:
    folder = recorded(tmp_path, output_lost=damaged)
    report = run_report(folder, seal=False)
    assert [row["what"] for row in report["unseen"]] == ["ops of a module"]
