"""`lessons` as text, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import dispatch
from app.cli import lessons as command
from app.lessons import batch
from app.lessons.batch import Batch, Item
from tests.unit.lessons.lesson_runs import spec_of, write_run

PROGRAM = "mx-contexts"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr("app.lessons.judged.problem_of", lambda _lesson, _variant: None)
    return tmp_path


def test_a_lesson_is_its_claim_its_verdicts_its_advice_and_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = "verdict holds: 3 of 3\nverdict does not hold: 0 of 3\n"
    write_run("r1", spec_of(PROGRAM, "default"), log=log)
    assert dispatch.main(["lessons", PROGRAM]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == PROGRAM
    assert lines[1].startswith("  gpu() is gpu(0)")
    assert "  holds: 3 of 3" in lines
    assert "  does not hold: 0 of 3" in lines
    assert any(line.startswith("  advice: Look at mx.context.num_gpus()") for line in lines)
    assert lines[-1] == "    run r1  default, finished"
    assert max(map(len, lines)) <= command.WIDTH


def test_all_lessons_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    log = "verdict holds: a\nverdict holds: b\nverdict does not hold: c\nverdict not testable here: d\n"
    write_run("r1", spec_of(PROGRAM, "default"), log=log)
    write_run("r2", spec_of("mx-copy", "default"), "failed", reason="killed")
    assert dispatch.main(["lessons"]) == 0
    out, err = capsys.readouterr()
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()}
    assert rows["LESSON"] == "VERDICTS RUNS TITLE"
    assert rows[PROGRAM] == "2 hold, 1 does not, 1 not testable here 1 of 1 Contexts and missing GPUs"
    assert rows["mx-copy"].startswith("failed 0 of 1 ")
    assert rows["mx-dist-sync"].startswith("not run 0 of 3 ")
    assert "lessons PROGRAM tells what was measured" in err


def test_one_that_was_not_run_says_so_and_gives_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch.main(["lessons", PROGRAM]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{PROGRAM}  [not run]\n")
    assert "advice" not in out


def test_wrong_words_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch.main(["lessons", "--again"]) == 2
    assert capsys.readouterr().err == "hopscope: --again goes with --run\n"
    assert dispatch.main(["lessons", "mx-contxts"]) == 2
    assert "did you mean mx-contexts?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("state", "items", "status", "told"),
    [
        (batch.FINISHED, (Item(PROGRAM, "default", batch.DONE),), 0, "lessons finished: 1 done"),
        (
            batch.FINISHED,
            (Item(PROGRAM, "a", batch.FAILED), Item(PROGRAM, "b", batch.DONE)),
            1,
            "lessons finished: 1 done, 1 failed",
        ),
        (batch.FINISHED, (Item(PROGRAM, "a", batch.REFUSED),), 0, "lessons finished: 1 refused"),
        (
            batch.STOPPED,
            (Item(PROGRAM, "a", batch.STOPPED), Item(PROGRAM, "b")),
            130,
            "lessons stopped: 1 stopped, 1 waiting",
        ),
        (batch.FINISHED, (), 0, "every lesson that can be run here has its runs; --again makes them again"),
    ],
)
def test_the_exit_status_says_what_became_of_the_runs(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    state: str,
    items: tuple[Item, ...],
    status: int,
    told: str,
) -> None:
    monkeypatch.setattr(command, "run_lessons", lambda *_words: Batch(state, items, 1.0, 2.0))
    assert dispatch.main(["lessons", PROGRAM, "--run"]) == status
    assert capsys.readouterr().err == f"hopscope: {told}\n"
