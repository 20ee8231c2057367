"""What a program said of its claim is read from its log, and only what its measuring stage said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.store.verdicts import MOST, VerdictReader, parse_line, read_verdicts
from runners.programs.verdicts import Verdict


def log(folder: Path, text: str) -> None:
    with (folder / "out.log").open("a", newline="") as file:
        file.write(text)


def spec(folder: Path, *stages: str) -> None:
    (folder / "spec.json").write_text(json.dumps({"stages": [{"name": name} for name in stages]}))


@pytest.mark.parametrize(
    ("line", "verdict", "text"),
    [
        ("verdict holds: 3:1, 24 and 8 images", "holds", "3:1, 24 and 8 images"),
        ("verdict does not hold: 1.0 times (0.9..1.1)", "does not hold", "1.0 times (0.9..1.1)"),
        ("verdict not testable here: no GPU. 3 ms", "not testable here", "no GPU. 3 ms"),
        ("worker-0  | verdict holds: equal", "holds", "equal"),
        ("worker:1 | verdict holds: equal", "holds", "equal"),
        ("verdict holds: \x1b[31mred\x1b[0m \u202eevil", "holds", "red evil"),
    ],
)
def test_a_verdict_line(line: str, verdict: str, text: str) -> None:
    assert parse_line(line.encode()) == Verdict(verdict, text)


@pytest.mark.parametrize(
    "line",
    [
        "verdict",
        "verdict holds:",
        "verdict holds:   ",
        "verdict maybe: who knows",
        "the verdict holds: no",
        "a verdict holds: no",
        "Verdict holds: no",
        "step 3/10 loss 0.5 verdict holds: no",
    ],
)
def test_what_is_no_verdict(line: str) -> None:
    assert parse_line(line.encode()) is None


def test_a_growing_log_is_followed(tmp_path: Path) -> None:
    reader = VerdictReader(tmp_path)
    assert not reader.refresh()
    log(tmp_path, "step 1/2\nverdict holds: fi")
    assert not reader.refresh()
    log(tmp_path, "rst\nverdict does not hold: second\n")
    assert reader.refresh()
    assert not reader.refresh()
    assert reader.verdicts() == [Verdict("holds", "first"), Verdict("does not hold", "second")]


def test_what_several_processes_say_alike_is_one(tmp_path: Path) -> None:
    log(tmp_path, "worker-0 | verdict holds: equal\nworker-1 | verdict holds: equal\n")
    assert read_verdicts(tmp_path) == [Verdict("holds", "equal")]


def test_only_the_measuring_stage_counts_where_there_is_one(tmp_path: Path) -> None:
    text = (
        "verdict holds: 1.8 times (1.7..1.9)\n"
        "hopscope: stage record: the same once more, recorded\n"
        "verdict does not hold: 1.1 times\n"
    )
    log(tmp_path, text)
    spec(tmp_path, "measure", "record")
    assert read_verdicts(tmp_path) == [Verdict("holds", "1.8 times (1.7..1.9)")]


def test_without_a_measuring_stage_all_count(tmp_path: Path) -> None:
    log(tmp_path, "hopscope: stage record: recorded\nverdict holds: placed there\n")
    assert read_verdicts(tmp_path) == [Verdict("holds", "placed there")]
    spec(tmp_path, "record")
    assert read_verdicts(tmp_path) == [Verdict("holds", "placed there")]


def test_a_log_that_floods_does_not_fill_the_page(tmp_path: Path) -> None:
    log(tmp_path, "".join(f"verdict holds: number {n}\n" for n in range(500)))
    log(tmp_path, f"verdict holds: {'x' * 2_000_000}\n")
    assert len(read_verdicts(tmp_path)) == MOST
    (tmp_path / "out.log").write_text(f"verdict holds: {'x' * 2_000_000}\nverdict holds: short\n")
    long, short = read_verdicts(tmp_path)
    assert short.text == "short" and len(long.text) < 1100


def test_a_damaged_spec_has_no_stages(tmp_path: Path) -> None:
    log(tmp_path, "verdict holds: yes\n")
    for content in ("{", "[]", '{"stages": 3}', '{"stages": [3]}'):
        (tmp_path / "spec.json").write_text(content)
        assert len(read_verdicts(tmp_path)) == 1
