"""Progress and the log's end, however a program writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.store.log import read_tail
from app.store.progress import Point, ProgressReader, last_progress, parse_line


@pytest.mark.parametrize(
    ("line", "point"),
    [
        (b"step 12/100 loss 0.4321 31.2 steps/s", Point(12, 100, 0.4321, 31.2)),
        (b"[train] Step 1/5 loss 1e-3 900 steps/s", Point(1, 5, 1e-3, 900.0)),
        (b"step 3/9", Point(3, 9, None, None)),
        (b"step 3/9 loss -inf", Point(3, 9, float("-inf"), None)),
        (b"footstep 3/9", None),
        (b"step three", None),
        (b"", None),
    ],
)
def test_a_progress_line(line: bytes, point: Point | None) -> None:
    assert parse_line(line) == point


def test_progress_is_followed_while_the_log_grows(tmp_path: Path) -> None:
    log = tmp_path / "out.log"
    reader = ProgressReader(tmp_path)
    assert not reader.refresh()
    assert reader.progress().steps == ()

    log.write_bytes(b"hello\nstep 1/3 loss 2.5 10.0 steps/s\nstep 2/3 lo")
    assert reader.refresh()
    assert reader.progress().steps == (1,)
    assert not reader.refresh()

    with log.open("ab") as more:
        more.write(b"ss nan 20.0 steps/s\rstep 3/3 loss 1.5 30.0 steps/s\n")
    assert reader.refresh()
    progress = reader.progress()
    assert (progress.steps, progress.loss, progress.rate, progress.total) == (
        (1, 2, 3),
        (2.5, None, 1.5),
        (10.0, 20.0, 30.0),
        3,
    )


def test_each_stage_of_a_run_counts_its_own_steps(tmp_path: Path) -> None:
    log = tmp_path / "out.log"
    log.write_text(
        "hopscope: stage measure: without the recorder\nstep 1/20\nstep 20/20 loss 0.1 9 steps/s\n"
    )
    reader = ProgressReader(tmp_path)
    reader.refresh()
    assert reader.progress().steps == last_progress(tmp_path).steps == (1, 20)
    with log.open("a") as file:
        file.write("hopscope: stage record: once more\n")
    reader.refresh()
    assert reader.progress().steps == last_progress(tmp_path).steps == ()
    with log.open("a") as file:
        file.write("step 2/5 loss 0.9 3 steps/s\n")
    assert reader.refresh()
    for progress in (reader.progress(), last_progress(tmp_path)):
        assert (progress.steps, progress.total, progress.loss) == ((2,), 5, (0.9,))


def test_a_megabyte_without_a_newline_is_no_progress(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_bytes(b"x" * (3 << 20) + b" step 7/9\nstep 8/9\n")
    reader = ProgressReader(tmp_path)
    reader.refresh()
    assert reader.progress().steps == (8,)


def test_very_many_steps_are_thinned_and_the_last_one_kept(tmp_path: Path) -> None:
    lines = "".join(f"step {step}/50001 loss 1 5 steps/s\n" for step in range(1, 50_002))
    (tmp_path / "out.log").write_text(lines)
    reader = ProgressReader(tmp_path)
    reader.refresh()
    progress = reader.progress()
    assert len(progress.steps) <= 10_001
    assert progress.steps[0] == 1
    assert progress.steps[-1] == 50_001
    assert list(progress.steps) == sorted(set(progress.steps))


def test_the_latest_progress_alone(tmp_path: Path) -> None:
    assert last_progress(tmp_path).steps == ()
    (tmp_path / "out.log").write_bytes(b"step 1/9\n" + b"noise\n" * 1000 + b"step 4/9 loss 2\nnoise\n")
    assert last_progress(tmp_path).steps[-1] == 4
    assert last_progress(tmp_path).loss[-1] == 2.0


def test_the_logs_end(tmp_path: Path) -> None:
    assert read_tail(tmp_path).lines == ()
    (tmp_path / "out.log").write_text("".join(f"line {number}\n" for number in range(1000)))
    tail = read_tail(tmp_path, most_lines=3)
    assert tail.lines == ("line 997", "line 998", "line 999")
    assert tail.size == 8890
    assert tail.skipped == 8890 - 27
    assert tail.text == "line 997\nline 998\nline 999"


def test_the_log_begins_with_a_whole_line(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("aaaaaaaaaa\nbbbb\ncccc\n")
    tail = read_tail(tmp_path, most_bytes=12)
    assert tail.lines == ("bbbb", "cccc")
    assert tail.skipped == 11


def test_a_megabyte_without_a_newline_is_cut(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_text("é" * (1 << 20))
    tail = read_tail(tmp_path, most_bytes=1001, longest_line=100)
    (line,) = tail.lines
    assert line == "é" * 100 + " .. (400 more characters)"


def test_only_the_last_version_of_an_overwritten_line_is_shown(tmp_path: Path) -> None:
    (tmp_path / "out.log").write_bytes(b"10%\r50%\r100%\ndone\r\n")
    assert read_tail(tmp_path).lines == ("100%", "done")


def test_nothing_steers_the_screen(tmp_path: Path) -> None:
    raw = b"\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07 \xff tab\there \xe2\x80\xaerev\n"
    (tmp_path / "out.log").write_bytes(raw)
    assert read_tail(tmp_path).lines == ("red bell \ufffd tab    here rev",)
