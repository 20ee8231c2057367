"""Lessons over a registry that was written by hand: which runs back a verdict, and when it counts no more."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.lessons import verdict_cache
from app.lessons.judged import Judged, lessons
from app.lessons.lesson import Lesson
from runners import judging
from runners.errors import UsageError
from runners.plan.plan import Plan
from runners.program import Variant
from runners.programs.evidence import Shown
from runners.programs.verdicts import Verdict
from runners.runs import registry
from tests.unit.lessons.lesson_runs import spec_of, write_run

ONE, TWO = "mx-contexts", "mx-module-data-parallel"
HOLDS = "verdict holds: {}\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def runnable(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Whether the frameworks are here is nothing to these tests; what is refused is said by variant."""
    refused: dict[str, str] = {}

    def problem_of(_lesson: Lesson, variant: Variant) -> str | None:
        return refused.get(variant.name)

    monkeypatch.setattr("app.lessons.judged.problem_of", problem_of)
    return refused


def lesson(program: str) -> Judged:
    [found] = lessons([program])
    return found


def told(found: Judged) -> list[tuple[str, str]]:
    return [(verdict.verdict, verdict.text) for verdict in found.verdicts]


def test_without_runs_nothing_is_judged() -> None:
    found = lesson(TWO)
    assert (found.state, found.verdicts, found.reason) == ("not run", (), None)
    assert [(run.variant, run.run, run.state) for run in found.runs] == [
        ("even", None, "not run"),
        ("weighted", None, "not run"),
    ]
    assert found.advice
    assert found.claim
    assert found.row()["runs"][0]["state"] == "not run"


def test_every_lesson_is_listed_and_unknown_ones_are_told() -> None:
    assert len(lessons()) == len({found.program for found in lessons()})
    with pytest.raises(UsageError, match=r"there is no lesson 'mx-contxts'; did you mean mx-contexts\?"):
        lessons(["mx-contxts"])


def test_the_newest_finished_run_backs_the_verdict() -> None:
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("old"), created="2026-01-01T00:00:00+00:00")
    write_run("r2", spec_of(ONE, "default"), log=HOLDS.format("new"), created="2026-01-02T00:00:00+00:00")
    write_run("r3", spec_of(ONE, "default"), "failed", created="2026-01-03T00:00:00+00:00", reason="killed")
    found = lesson(ONE)
    assert (found.state, told(found)) == ("judged", [("holds", "new")])
    [run] = found.runs
    assert (run.run, run.state, run.newest) == ("r2", "finished", "r3")
    assert (run.devices, run.stand_ins) == (("cpu:1", "cpu:2"), 2)


def test_devices_of_several_processes_are_named_as_on_the_run_s_page() -> None:
    mapped = {f"worker:{rank}/cpu:1": {"stand_in": True} for rank in range(2)}
    write_run("r1", spec_of(ONE, "default") | {"device_map": mapped}, log=HOLDS.format("new"))
    [run] = lesson(ONE).runs
    assert run.devices == ("worker:0/cpu:1", "worker:1/cpu:1")


def test_a_claim_needs_all_of_its_variants() -> None:
    write_run("r1", spec_of(TWO, "even"), log=HOLDS.format("cut evenly"))
    assert lesson(TWO).state == "not run"
    running = write_run("r2", spec_of(TWO, "weighted"), "running")
    assert lesson(TWO).state == "running"
    shutil.rmtree(running)
    write_run("r3", spec_of(TWO, "weighted"), log=HOLDS.format("cut by weight"))
    found = lesson(TWO)
    # Which of the runs said it is told with it.
    words = [("holds", "even: cut evenly"), ("holds", "weighted: cut by weight")]
    assert (found.state, told(found)) == ("judged", words)


def test_a_failed_run_is_told_with_its_reason_and_its_last_line() -> None:
    log = "step 1/3\nImportError: no module\n\n"
    write_run("r1", spec_of(ONE, "default"), "failed", log, exit_code=1, reason="exited with status 1")
    found = lesson(ONE)
    assert found.state == "failed"
    assert found.reason == "default: exited with status 1: ImportError: no module"
    assert not found.verdicts


def test_a_lesson_that_is_run_again_keeps_its_verdict() -> None:
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("old"))
    write_run("r2", spec_of(ONE, "default"), "running", created="2026-01-02T00:00:00+00:00")
    found = lesson(ONE)
    assert (found.state, told(found)) == ("judged", [("holds", "old")])
    assert found.runs[0].newest == "r2"


def test_a_deleted_run_takes_its_verdict_away() -> None:
    folder = write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("here"))
    assert lesson(ONE).state == "judged"
    registry.remove(registry.find("r1"))
    assert not folder.exists()
    assert lesson(ONE).state == "not run"
    assert not lesson(ONE).verdicts


@pytest.mark.parametrize(
    "change",
    [
        {"options": {"seed": 1, "device": None}},
        {"options": None},
        {"steps": 100},
        {"name": "no-such-program"},
        {"lesson": {"program": ONE, "variant": "other"}},
        {"lesson": "mx-contexts"},
        {"lesson": None},
    ],
)
def test_a_run_that_is_not_what_the_lesson_asks_for_backs_nothing(change: dict[str, Any]) -> None:
    write_run("r1", spec_of(ONE, "default") | change, log=HOLDS.format("x"))
    assert lesson(ONE).state == "not run"


def test_what_this_machine_cannot_run_is_not_testable(runnable: dict[str, str]) -> None:
    runnable.update(even="it needs a GPU", weighted="it needs a GPU")
    found = lesson(TWO)
    assert (found.state, told(found)) == ("judged", [("not testable here", "it needs a GPU")])
    assert [(run.state, run.reason) for run in found.runs] == [("refused", "it needs a GPU")] * 2


def test_a_run_made_while_it_could_be_run_still_counts(runnable: dict[str, str]) -> None:
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("was run"))
    runnable["default"] = "the environment is gone"
    assert told(lesson(ONE)) == [("holds", "was run")]


def test_an_extra_variant_is_left_out_only_where_it_cannot_be_run(runnable: dict[str, str]) -> None:
    program = "mx-mixed-context"
    write_run("r1", spec_of(program, "stand-ins"), log=HOLDS.format("on the first"))
    assert lesson(program).state == "not run"
    runnable["gpu-and-host"] = "gpu:0 does not exist here"
    found = lesson(program)
    assert (found.state, told(found)) == ("judged", [("holds", "on the first")])
    assert found.runs[1].reason == "gpu:0 does not exist here"


def test_runs_that_say_nothing_are_told() -> None:
    write_run("r1", spec_of(ONE, "default"), log="step 3/3\n")
    found = lesson(ONE)
    assert (found.state, found.reason) == (
        "failed",
        "its runs finished, and none of them showed a verdict",
    )


def test_times_that_were_measured_beside_another_run_are_doubtful() -> None:
    program = "mx-matmul-size"
    write_run("r1", spec_of(program, "default"), log=HOLDS.format("12 ms (11..13)"))
    write_run("before", {"name": "train"}, started=50.0, ended=100.0)
    assert lesson(program).note is None
    write_run("beside", {"name": "train"}, started=105.0, ended=200.0)
    note = lesson(program).note
    assert note is not None
    assert note.startswith("times were measured while beside went on")
    write_run("r2", spec_of(ONE, "default"), log=HOLDS.format("no time in this"))
    assert lesson(ONE).note is None


class Judges:
    """Counts how often a claim is really judged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.error: Exception | None = None
        monkeypatch.setattr(judging, "check_of", lambda program: self)

    def __call__(self, shown: Mapping[str, Shown]) -> list[Verdict]:
        self.calls += 1
        if self.error:
            raise self.error
        return [verdict for one in shown.values() for verdict in one.said]


def test_a_verdict_is_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = Judges(monkeypatch)
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("a"))
    assert told(lesson(ONE)) == told(lesson(ONE)) == [("holds", "a")]
    assert judges.calls == 1


def test_another_run_is_judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = Judges(monkeypatch)
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("a"))
    lesson(ONE)
    write_run("r2", spec_of(ONE, "default"), log=HOLDS.format("b"), created="2026-01-02T00:00:00+00:00")
    assert told(lesson(ONE)) == [("holds", "b")]
    assert judges.calls == 2


def test_a_run_whose_files_changed_is_judged_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = Judges(monkeypatch)
    folder = write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("a"))
    lesson(ONE)
    (folder / "out.log").write_text(HOLDS.format("changed"))
    assert told(lesson(ONE)) == [("holds", "changed")]
    assert judges.calls == 2


def test_other_code_judges_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = Judges(monkeypatch)
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("a"))
    lesson(ONE)
    monkeypatch.setattr(verdict_cache, "code_digest", lambda: "other")
    assert told(lesson(ONE)) == [("holds", "a")]
    assert judges.calls == 2


def test_a_change_of_a_check_is_other_code(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    check = tmp_path / "a" / "check.py"
    check.write_text("x = 1\n")
    before = verdict_cache.digest_of(tmp_path, ("a",))
    assert verdict_cache.digest_of(tmp_path, ("a",)) == before
    check.write_text("x = 2\n")
    assert verdict_cache.digest_of(tmp_path, ("a",)) != before


@pytest.mark.parametrize("damage", ["", "[]", '{"key": 1}', '{"key": null, "verdicts": 3}'])
def test_a_damaged_cache_is_judged_anew(home: Path, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    judges = Judges(monkeypatch)
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("a"))
    lesson(ONE)
    [file] = (home / "lessons" / "verdicts").iterdir()
    file.write_text(damage)
    assert told(lesson(ONE)) == [("holds", "a")]
    assert judges.calls == 2


def test_a_check_that_cannot_make_sense_of_a_run_takes_only_its_own_lesson(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judges = Judges(monkeypatch)
    judges.error = KeyError("src")
    write_run("r1", spec_of(ONE, "default"), log=HOLDS.format("a"))
    found = {one.program: one for one in lessons()}
    assert found[ONE].state == "failed"
    assert found[ONE].reason == (
        "the claim could not be judged by r1 (KeyError: 'src'); run the lesson again"
    )
    assert found["mx-copy"].state == "not run"


def test_devices_are_called_what_the_process_calls_them() -> None:
    assert verdict_cache.own_names(["gpu:3", "cpu:1", "gpu:1"]) == {
        "gpu:3": "gpu:0",
        "cpu:1": "cpu:1",
        "gpu:1": "gpu:1",
    }


def test_a_check_gets_devices_as_the_report_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Shown] = []

    def check(shown: Mapping[str, Shown]) -> list[Verdict]:
        seen.extend(shown.values())
        return [Verdict("holds", "it was looked at")]

    monkeypatch.setattr(judging, "check_of", lambda program: check)
    options = {"seed": 0, "device": None}
    gpus = {"devices": ["gpu:3", "gpu:1"], "stand_ins": None, "options": options}
    write_run("r1", spec_of(ONE, "default") | gpus, log=HOLDS.format("a"))
    assert lesson(ONE).state == "judged"
    [one] = seen
    assert (one.devices, one.named, one.stand_ins) == (("gpu:0", "gpu:1"), ("gpu:3", "gpu:1"), None)
    assert one.options == options
    assert (one.report["run"], one.report["version"]) == ("r1", 1)
    assert [verdict.text for verdict in one.said] == ["a"]


def test_the_planners_reason_is_the_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("HOPSCOPE_HOME", "/nonexistent/home")
    monkeypatch.setenv("HOPSCOPE_ENVS", "/nonexistent/envs")
    monkeypatch.delenv("HOPSCOPE_MXNET", raising=False)
    found = lesson(ONE)
    assert found.state == "judged"
    [verdict] = found.verdicts
    assert verdict.verdict == "not testable here"
    assert "python3 -m app setup --framework mxnet" in verdict.text


def test_the_plan_carries_the_lesson() -> None:
    from app.lessons.catalogue import LESSONS
    from app.lessons.lesson import LONGEST_RUN_S, plan_variant

    found = LESSONS["mx-dist-sync"]
    plan: Plan = plan_variant(found, found.variants[0])
    assert plan.lesson == {"program": "mx-dist-sync", "variant": "sync"}
    assert plan.time_limit_s == 600
    assert plan.origin == "lesson"
    alone = LESSONS[ONE]
    assert plan_variant(alone, alone.variants[0]).time_limit_s == LONGEST_RUN_S
