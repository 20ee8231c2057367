"""The lessons as the Lessons page lists them: a verdict each, how the runs behind it stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.components.table.table import Column
from app.lessons import judged
from app.lessons.batch import WAITING, Batch
from app.lessons.judged import Judged, LessonRun
from app.views import units
from app.web.shared.devices import devices_cell
from app.web.shared.places import lesson_link, run_link
from app.web.shared.run_rows import TONES
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE, Verdict

IN_PART = "holds in part"
WAITS = "waiting"
VERDICT_TONES = {HOLDS: "good", FAILS: "odd", IN_PART: "odd", UNTESTABLE: "quiet"}
_TONES = {
    **VERDICT_TONES,
    judged.RUNNING: "busy",
    judged.FAILED: "alert",
    WAITS: "quiet",
    judged.NOT_RUN: "quiet",
}
NO_VERDICT = "no verdict"
FILTERS = ("all", HOLDS, IN_PART, FAILS, UNTESTABLE, NO_VERDICT)
"""The first is for no filter."""
COLUMNS = (
    Column("verdict", "Verdict", "badge", width="11em"),
    Column("lesson", "Lesson", "link"),
)
RUN_COLUMNS = (
    Column("variant", "Variant", "label"),
    Column("state", "State", "badge"),
    Column("run", "Run behind it", "link"),
    Column("devices", "Devices", "devices"),
)


def lesson_rows(
    shown: Iterable[Judged], batch: Batch | None, query: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The list's rows; `query` is what else stands in the address."""
    waiting = waiting_programs(batch)
    return [
        {
            "id": lesson.program,
            "cells": {
                "verdict": badge(lesson, waiting),
                "lesson": {
                    "text": lesson.title,
                    "href": lesson_link(lesson.program, query),
                    "remark": lesson.program,
                },
            },
        }
        for lesson in shown
    ]


def waiting_programs(batch: Batch | None) -> set[str]:
    """Programs that a batch which goes on has still to run."""
    if batch is None or not batch.going_on:
        return set()
    return {item.program for item in batch.items if item.state == WAITING}


def badge(lesson: Judged, waiting: Iterable[str] = ()) -> dict[str, Any]:
    """One word for a lesson: its verdicts taken together, else how far it is."""
    if lesson.state == judged.JUDGED:
        text = together(lesson.verdicts)
    elif lesson.state == judged.NOT_RUN and lesson.program in waiting:
        text = WAITS
    else:
        text = lesson.state
    return {"text": text, "tone": _TONES.get(text, "quiet"), "title": lesson.reason or ""}


def together(verdicts: Sequence[Verdict]) -> str:
    """Several verdicts in one: what can be tested decides."""
    words = {one.verdict for one in verdicts}
    if {HOLDS, FAILS} <= words:
        return IN_PART
    return next((word for word in (FAILS, HOLDS) if word in words), UNTESTABLE)


def is_shown(lesson: Judged, framework: str, verdict: str) -> bool:
    """Whether a lesson passes the filters; '' and ``all`` let all pass."""
    if framework not in ("", FILTERS[0], lesson.framework):
        return False
    return verdict in ("", FILTERS[0], kind(lesson))


def kind(lesson: Judged) -> str:
    """The filter under which a lesson is found: the word that its row has, where it is judged."""
    return together(lesson.verdicts) if lesson.state == judged.JUDGED else NO_VERDICT


def verdict_rows(lesson: Judged) -> list[dict[str, str]]:
    """The verdicts as `app.components.claim.claim.claim_box` draws them; without any, why there is none."""
    if lesson.verdicts:
        return [
            {"text": one.verdict, "tone": VERDICT_TONES.get(one.verdict, "quiet"), "measured": one.text}
            for one in lesson.verdicts
        ]
    if lesson.state == judged.RUNNING:
        return [{"text": judged.RUNNING, "tone": "busy", "measured": "its verdict follows"}]
    if lesson.state == judged.FAILED:
        return [{"text": judged.FAILED, "tone": "alert", "measured": lesson.reason or ""}]
    lacking = sum(row.run is None and row.state != judged.REFUSED for row in lesson.runs)
    told = (
        f"{units.plural(lacking, 'run')} of it {'is' if lacking == 1 else 'are'} missing" if lacking else ""
    )
    return [{"text": judged.NOT_RUN, "tone": "quiet", "measured": told or "its runs did not finish"}]


def run_rows(runs: Iterable[LessonRun]) -> list[dict[str, Any]]:
    """The runs behind a lesson's verdicts, a row a variant."""
    return [_run_row(one) for one in runs]


def _run_row(one: LessonRun) -> dict[str, Any]:
    tone = TONES.get(one.state, "alert" if one.state == judged.REFUSED else "quiet")
    text = "not possible here" if one.state == judged.REFUSED else one.state
    newer = f"a newer one, {one.newest}, did not finish" if one.newest else ""
    stand_ins = set(one.devices) if one.stand_ins else set()
    run: dict[str, Any] = {"text": "", "href": "", "note": one.reason or "", "calm": True}
    if one.run:
        run = {"text": one.run, "href": run_link(one.run), "note": one.reason or "", "remark": newer}
    return {
        "id": one.variant,
        "cells": {
            "variant": {"text": one.variant},
            "state": {"text": text, "tone": "quiet" if one.state == judged.REFUSED else tone},
            "run": run,
            "devices": devices_cell(one.devices, stand_ins),
        },
    }


def missing_runs(lessons: Iterable[Judged]) -> int:
    """How many runs the lessons lack that this machine could make."""
    return sum(one.state not in ("finished", judged.REFUSED) for lesson in lessons for one in lesson.runs)
