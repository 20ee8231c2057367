"""What `devices` refuses, and how a text is fitted into a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from app import cli
from app.cli.redraw import Screen, fitted


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--watch", "--record", "x"], "--watch and --record are two things: give one of them"),
        (["--watch", "--bandwidth"], "--watch and --bandwidth are two things: give one of them"),
        (["--bandwidth", "--for", "1"], "--for goes with --watch or --record FILE"),
        (["--hz", "2"], "--hz goes with --watch or --record FILE"),
        (["--for", "2"], "--for goes with --watch or --record FILE"),
        (["--overwrite"], "--overwrite goes with --record FILE"),
        (["--watch", "--hz", "20"], "'20' is not a rate: 0.1 to 10 a second"),
        (["--watch", "--hz", "nan"], "'nan' is not a rate"),
        (["--watch", "--hz", "often"], "'often' is not a rate"),
        (["--watch", "--for", "-1"], "'-1' is not a number of seconds"),
        (["--record", "/nowhere/at/all/x.jsonl"], "there is no folder /nowhere/at/all to write x.jsonl into"),
        (["--wach"], "did you mean --watch?"),
    ],
)
def test_a_wrong_request_is_one_line_and_2(
    capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert cli.main(["devices", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("hopscope: ") and line in err


def test_text_is_cut_at_the_margin_and_the_rest_told() -> None:
    lines = ["one", "two and more", "訓練訓練訓練", "four"]
    assert fitted(lines, 80, 4) == lines
    assert fitted(lines, 5, 4) == ["one", "two a", "訓練", "four"]
    assert fitted(lines, 80, 3) == ["one", "two and more", ".. 2 more lines: make the window taller"]
    assert fitted(lines, 80, 1) == [".. 4 more lines: make the window taller"]


BEGIN, END = "\x1b[?2026h", "\x1b[?2026l"
"""A terminal shows at once what stands between."""


def test_only_lines_that_changed_are_written(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []
    screen = Screen(lambda: None)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("LINES", "5")
    for text in ("a\nb\nc\n", "a\nB\nc\n", "a\n", "a\n", "a\nb\n"):
        screen.draw(text)
        written.append(capfd.readouterr().out)
    monkeypatch.setenv("COLUMNS", "30")
    screen.draw("a\nb\n")
    written.append(capfd.readouterr().out)
    assert written == [
        f"{BEGIN}\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K\x1b[3;1Hc\x1b[K{END}",
        f"{BEGIN}\x1b[2;1HB\x1b[K{END}",
        f"{BEGIN}\x1b[2;1H\x1b[K\x1b[3;1H\x1b[K{END}",
        f"{BEGIN}{END}",
        f"{BEGIN}\x1b[2;1Hb\x1b[K{END}",
        f"{BEGIN}\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K{END}",
    ]


def test_the_last_letter_of_a_full_line_stays(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(lambda: None)
    monkeypatch.setenv("COLUMNS", "4")
    monkeypatch.setenv("LINES", "5")
    screen.draw("訓練\nabcd\nabc\n")
    assert capfd.readouterr().out == (f"{BEGIN}\x1b[2J\x1b[1;1H訓練\x1b[2;1Habcd\x1b[3;1Habc\x1b[K{END}")


def test_a_file_of_somebody_else_is_not_touched(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_text("precious")
    assert cli.main(["devices", "--record", str(file)]) == 2
    assert "exists; name another file, or add --overwrite" in capsys.readouterr().err
    assert file.read_text() == "precious"
