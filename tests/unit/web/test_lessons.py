"""The rows of the Lessons page and of the source, from lessons and lines that are written out in full."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from app.facts.collectives import Collective
from app.facts.lines import Line, LineOps, SourceFile, Way
from app.facts.syncs import Sync
from app.lessons.batch import Batch, Item
from app.lessons.judged import Judged, LessonRun
from app.views import units
from app.web.lessons.lessons_batch import progress_text
from app.web.lessons.lessons_detail import blocks
from app.web.lessons.lessons_rows import (
    FILTERS,
    badge,
    is_shown,
    kind,
    lesson_rows,
    missing_runs,
    run_rows,
    together,
    verdict_rows,
)
from app.web.shared.rows import RunRows
from app.web.shared.source_rows import byte_bases, line_facts, types_text
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE, Verdict


def lesson(state: str = "judged", *words: str, **parts: Any) -> Judged:
    facts: dict[str, Any] = {
        "program": "tf-mirrored",
        "title": "Mirrored",
        "framework": "tensorflow",
        "claim": "c",
        "summary": "s",
        "timed": False,
        "advice": "a",
        "reason": None,
        "runs": (LessonRun("default", "r1", "finished"),),
    }
    verdicts = tuple(Verdict(word, f"{word} because") for word in words)
    return Judged(state=state, verdicts=verdicts, **(facts | parts))


def going_on(*items: Item, state: str = "running", reason: str | None = None) -> Batch:
    return Batch(state, items, 0.0, reason=reason)


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ([HOLDS], "holds"),
        ([HOLDS, UNTESTABLE], "holds"),
        ([UNTESTABLE, FAILS], "does not hold"),
        ([FAILS, UNTESTABLE, HOLDS], "holds in part"),
        ([UNTESTABLE], "not testable here"),
    ],
)
def test_several_verdicts_come_to_one_word(words: list[str], word: str) -> None:
    assert together([Verdict(one, "t") for one in words]) == word
    assert badge(lesson("judged", *words))["text"] == word


def test_a_lesson_without_a_verdict_says_how_far_it_is() -> None:
    assert badge(lesson("failed", reason="it broke")) == {
        "text": "failed",
        "tone": "alert",
        "title": "it broke",
    }
    assert badge(lesson("running"))["tone"] == "busy"
    assert badge(lesson("not run"))["text"] == "not run"
    batch = going_on(Item("tf-mirrored", "default"))
    (row,) = lesson_rows([lesson("not run")], batch, {"framework": "tensorflow"})
    assert row["cells"]["verdict"]["text"] == "waiting"
    assert row["cells"]["lesson"]["href"] == "/lessons?framework=tensorflow&lesson=tf-mirrored"
    (row,) = lesson_rows([lesson("not run")], Batch("stopped", batch.items, 0.0), {})
    assert row["cells"]["verdict"]["text"] == "not run"


def test_filters() -> None:
    both = lesson("judged", HOLDS, FAILS)
    assert is_shown(both, "", "") and is_shown(both, "tensorflow", "all")
    assert not is_shown(both, "mxnet", "all")
    assert not is_shown(both, "all", "no verdict")
    assert is_shown(lesson("failed"), "all", "no verdict") and not is_shown(lesson("failed"), "all", HOLDS)
    # Each lesson is found, and so counted, under the one word that its row has.
    found = [both, lesson("judged", HOLDS, UNTESTABLE), lesson("judged", FAILS), lesson("failed")]
    assert [kind(one) for one in found] == ["holds in part", HOLDS, FAILS, "no verdict"]
    assert all([is_shown(one, "", word) for word in FILTERS[1:]].count(True) == 1 for one in found)


def test_why_there_is_no_verdict() -> None:
    lacking = lesson("not run", runs=(LessonRun("a", None, "not run"), LessonRun("b", "r", "finished")))
    assert verdict_rows(lacking)[0]["measured"] == "1 run of it is missing"
    assert verdict_rows(lesson("failed", reason="it broke"))[0]["measured"] == "it broke"
    assert verdict_rows(lesson("running"))[0]["text"] == "running"
    assert verdict_rows(lesson("judged", FAILS))[0] == {
        "text": FAILS,
        "tone": "odd",
        "measured": "does not hold because",
    }


def test_runs_behind_a_lesson() -> None:
    rows = run_rows(
        (
            LessonRun("two", "run-1", "finished", newest="run-2", devices=("cpu:1",), stand_ins=1),
            LessonRun("gpu", None, "refused", "gpu:0 does not exist here"),
        )
    )
    first, second = (row["cells"] for row in rows)
    assert first["run"]["href"] == "/run?run=run-1"
    assert "run-2" in first["run"]["remark"]
    assert first["devices"]["remark"] == "stand-ins"
    assert (second["state"]["text"], second["run"]["note"]) == (
        "not possible here",
        "gpu:0 does not exist here",
    )
    assert second["run"]["href"] == ""


def test_what_is_missing() -> None:
    runs = (LessonRun("a", None, "not run"), LessonRun("b", None, "refused"), LessonRun("c", "r", "failed"))
    found = [lesson("judged", HOLDS), lesson("judged", UNTESTABLE), lesson("not run", runs=runs)]
    assert missing_runs(found) == 2


def test_how_far_a_batch_is() -> None:
    items = (Item("tf-a", "x", "done"), Item("tf-b", "y", "running", "r"), Item("tf-c", "z"))
    assert progress_text(going_on(*items)) == "1 of 3 runs · tf-b, y"
    assert (
        progress_text(going_on(*items, reason="it waits for r to end"))
        == "1 of 3 runs · it waits for r to end"
    )
    assert progress_text(going_on(*items, state="stopping")) == "1 of 3 runs · stopping"


def test_what_stands_beside_a_line() -> None:
    wait = Sync("cpu:1", "numpy", "t.py:3", 4, 2_000_000, None, "measured")
    line = Line(
        3,
        tuple(LineOps(f"cpu:{n}", n + 1, (("MatMul", n + 1),)) for n in range(7)),
        (Way("cpu:0", "cpu:1", 2048, 2048, 10, "estimated", "warning"),),
        (Way("cpu:1", "cpu:0", None, 512, None, "unknown", "info"),),
        (wait,),
    )
    file = SourceFile("t.py", ("/src/t.py",), {3: line})
    (fact,) = line_facts(file, RunRows([f"cpu:{n}" for n in range(7)]))
    assert [one["device"] for one in fact["ops"]] == ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
    assert fact["more"]["text"] == "and 3 more" and "cpu:6: MatMul 7" in fact["more"]["title"]
    assert (fact["arriving"]["text"], fact["arriving"]["tone"]) == ("2 KiB", "alert")
    assert (fact["leaving"]["text"], fact["leaving"]["tone"]) == ("≥ 512 B", "")
    assert f"cpu:0 → cpu:1: 2 KiB · 10{units.TIMES}, estimated" in fact["arriving"]["title"]
    assert (fact["waits"]["text"], fact["waits"]["remark"]) == ("2 ms", f"4{units.TIMES}")
    assert byte_bases(file) == ["estimated", "unknown"]
    (few,) = line_facts(SourceFile("t.py", (), {3: Line(3, line.ops[:5])}), RunRows(["cpu:0"]))
    long = Line(3, tuple(LineOps(f"worker:{n}/cpu:0", 1, (("MatMul", 1),)) for n in range(4)))
    (several,) = line_facts(SourceFile("t.py", (), {3: long}), RunRows(["worker:0/cpu:0"]))
    assert len(several["ops"]) == 2 and several["more"]["text"] == "and 2 more"
    assert len(few["ops"]) == 5 and few["more"] is None and few["arriving"] is None
    # A collective is more than a small transfer beside it tells.
    ring = Collective("AllReduce", ("cpu:1", "cpu:2"), 1, 4096, 8192, "ring", 10, "t.py:3", "estimated")
    (both,) = line_facts(
        SourceFile("t.py", (), {3: dataclasses.replace(line, collectives=(ring,))}), RunRows([])
    )
    assert (both["arriving"]["text"], both["arriving"]["below"]) == ("2 KiB", "+ 80 KiB collective")
    assert fact["arriving"]["below"] == ""


def test_types_of_ops_are_told_shortly() -> None:
    assert types_text((("MatMul", 2), ("Relu", 1))) == "MatMul 2, Relu"
    assert types_text(tuple((f"T{n}", 1) for n in range(8))) == "T0, T1, T2, T3, T4, T5, 2 more types"


def test_a_docstring_is_told_in_paragraphs_and_tables() -> None:
    text = "One line.\n\nTwo that\nbelong together:\n\n    a    first\n    b    second\n\n\nThe last."
    assert blocks(text) == [
        "One line.",
        "Two that belong together:",
        "    a    first\n    b    second",
        "The last.",
    ]
