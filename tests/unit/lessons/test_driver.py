"""The driver of lessons, with launches that write the runs' folders by hand."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.lessons import batch, driver
from app.lessons.batch import Batch, Busy, Item
from app.lessons.driver import run_lessons
from app.lessons.lesson import Lesson, plan_variant
from runners.errors import HopscopeError, UsageError
from runners.plan.plan import Plan
from runners.program import Variant
from runners.runs import registry
from runners.runs.processes import boot_id
from runners.runs.registry import Run
from tests.unit.lessons.lesson_runs import spec_of, write_run

ONE, TWO, TIMED = "mx-contexts", "mx-module-data-parallel", "mx-matmul-size"
SAYS = "verdict holds: it does\n"


class Machine:
    """Plans that have the problems said here, and launches that end at once as said here."""

    def __init__(self) -> None:
        self.problems: dict[tuple[str, str], list[str]] = {}
        self.ends: dict[tuple[str, str], Callable[[str], None]] = {}
        self.launched: list[tuple[str, str]] = []
        self.resumed: list[str] = []

    def plan(
        self, lesson: Lesson, variant: Variant, *, share: bool = False, resume: Path | None = None
    ) -> Plan:
        plan = plan_variant(lesson, variant, share=share)
        if resume is not None:
            self.resumed.append(resume.name)
        stand_ins = plan.stand_ins or lesson.catalogued.default_devices
        problems = self.problems.get((lesson.program, variant.name), [])
        return dataclasses.replace(plan, problems=list(problems), stand_ins=stand_ins)

    def launch(self, plan: Plan) -> Run:
        assert plan.lesson is not None
        key = plan.lesson["program"], plan.lesson["variant"]
        self.launched.append(key)
        run_id = f"run{len(self.launched)}"
        end = self.ends.get(key)
        if end is None:
            self.write(run_id, key)
        else:
            end(run_id)
        return registry.find(run_id)

    def write(self, run_id: str, key: tuple[str, str], state: str = "finished", **more: Any) -> None:
        log = SAYS if state == "finished" else "what went wrong\n"
        created = f"2026-01-02T00:00:{len(self.launched):02}+00:00"
        write_run(run_id, spec_of(*key), state, log, created, **more)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    made = Machine()
    monkeypatch.setattr(driver, "plan_variant", made.plan)
    monkeypatch.setattr(driver, "launch", made.launch)
    monkeypatch.setattr(driver, "POLL_S", 0.001)
    monkeypatch.setattr(driver, "SLOW_POLL_S", 0.001)
    monkeypatch.setattr("app.lessons.judged.problem_of", lambda _lesson, _variant: None)
    return made


def run(*programs: str, again: bool = False) -> tuple[Batch, list[str]]:
    told: list[str] = []
    return run_lessons(programs, again, told.append), told


def outcomes(made: Batch) -> list[tuple[str, str, str | None]]:
    return [(item.variant, item.state, item.reason) for item in made.items]


def test_what_lacks_a_run_is_run_once(machine: Machine) -> None:
    write_run("before", spec_of(TWO, "even"), log=SAYS)
    made, told = run(ONE, TWO)
    assert (made.state, made.ended is not None) == ("finished", True)
    assert machine.launched == [(ONE, "default"), (TWO, "weighted")]
    assert [item.run for item in made.items] == ["run1", "run2"]
    assert batch.state() == made
    assert f"[1/2] {ONE}, default: run run1" in told
    assert f"{ONE} holds: it does" in told
    assert run(ONE, TWO)[0].items == ()
    assert len(machine.launched) == 2


def test_again_runs_all(machine: Machine) -> None:
    run(ONE)
    made, _ = run(ONE, again=True)
    assert outcomes(made) == [("default", "done", None)]
    assert len(machine.launched) == 2


def test_one_that_fails_does_not_keep_the_rest_from_theirs(machine: Machine) -> None:
    machine.ends[TWO, "even"] = lambda run_id: machine.write(
        run_id, (TWO, "even"), "failed", reason="exited with status 1"
    )
    made, told = run(ONE, TWO)
    assert made.state == "finished"
    assert outcomes(made) == [
        ("default", "done", None),
        ("even", "failed", "exited with status 1: what went wrong"),
        ("weighted", "done", None),
    ]
    assert f"{TWO} failed: even: exited with status 1: what went wrong" in told
    assert run(ONE, TWO)[0].items[0].variant == "even", "it still lacks a finished run"


def test_what_cannot_be_launched_is_told(machine: Machine) -> None:
    def disk_full(_run_id: str) -> None:
        raise HopscopeError("the run could not be started: No space left on device")

    def taken(_run_id: str) -> None:
        raise UsageError("gpu:0 is in use by run r7")

    machine.ends[TWO, "even"], machine.ends[TWO, "weighted"] = disk_full, taken
    machine.problems[ONE, "default"] = ["the environment is not installed", "it needs a GPU"]
    made, told = run(ONE, TWO)
    assert outcomes(made) == [
        ("default", "refused", "the environment is not installed; it needs a GPU"),
        ("even", "failed", "the run could not be started: No space left on device"),
        ("weighted", "refused", "gpu:0 is in use by run r7"),
    ]
    assert f"[1/3] {ONE}, default: refused: the environment is not installed; it needs a GPU" in told


def test_an_extra_variant_that_cannot_be_run_is_no_part_of_the_batch(machine: Machine) -> None:
    machine.problems["mx-mixed-context", "gpu-and-host"] = ["gpu:0 does not exist here"]
    assert outcomes(run("mx-mixed-context")[0]) == [("stand-ins", "done", None)]


def test_runs_on_stand_ins_are_made_anew_where_there_are_gpus_by_now(machine: Machine) -> None:
    spec = spec_of(ONE, "default") | {"stand_ins": None, "devices": ["gpu:0", "gpu:1"]}
    write_run("on-gpus", spec, log=SAYS)
    assert outcomes(run(ONE)[0]) == [("default", "done", None)]
    assert run(ONE)[0].items == ()


def test_a_run_that_resumes_another_goes_on_with_its_newest(machine: Machine) -> None:
    program = "tf-multiworker-checkpoint"
    write_run("older", spec_of(program, "first"), log=SAYS)
    made, _ = run(program, again=True)
    assert machine.launched == [(program, "first"), (program, "resumed")]
    assert machine.resumed == ["run1"]
    assert [item.state for item in made.items] == ["done", "done"]


def test_without_the_run_that_it_resumes_it_fails(machine: Machine) -> None:
    program = "tf-multiworker-checkpoint"
    machine.ends[program, "first"] = lambda run_id: machine.write(
        run_id, (program, "first"), "failed", reason="killed"
    )
    made, _ = run(program)
    assert [item.reason for item in made.items] == [
        "killed: what went wrong",
        "it goes on with the run of first, and that has not finished",
    ]


def test_stopped_by_a_signal_the_rest_waits_for_next_time(machine: Machine) -> None:
    def interrupted(run_id: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        machine.write(run_id, (TWO, "even"), "stopped", reason="stopped on request")

    machine.ends[TWO, "even"] = interrupted
    made, _ = run(ONE, TWO)
    assert made.state == "stopped"
    assert made.reason == "stopped on request; 2 of 3 runs are left"
    assert [item.state for item in made.items] == ["done", "stopped", "waiting"]
    del machine.ends[TWO, "even"]
    made, _ = run(ONE, TWO)
    assert [(item.variant, item.state) for item in made.items] == [("even", "done"), ("weighted", "done")]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_run_that_somebody_else_stops_does_not_end_the_batch(machine: Machine) -> None:
    machine.ends[TWO, "even"] = lambda run_id: machine.write(
        run_id, (TWO, "even"), "stopped", reason="stopped on request"
    )
    made, _ = run(TWO)
    assert made.state == "finished"
    assert [item.state for item in made.items] == ["stopped", "done"]


def test_a_batch_of_all_again_is_taken_up_where_it_was_stopped(machine: Machine) -> None:
    def interrupted(run_id: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        machine.write(run_id, (TWO, "even"), "stopped")

    run(ONE, TWO)
    machine.ends[TWO, "even"] = interrupted
    made, _ = run(ONE, TWO, again=True)
    assert [item.state for item in made.items] == ["done", "stopped", "waiting"]
    del machine.ends[TWO, "even"]
    # Each has a finished run, but of before that batch.
    made, _ = run(ONE, TWO)
    assert [(item.variant, item.state) for item in made.items] == [("even", "done"), ("weighted", "done")]
    assert run(ONE, TWO)[0].items == ()


def test_the_run_that_a_killed_driver_left_is_taken_over(machine: Machine) -> None:
    folder = write_run("left", spec_of(ONE, "default"), "running")
    ended = {"state": "finished", "exit_code": 0, "started": 1.0, "ended": 2.0}

    class Clock:
        """Ends the run once the driver waits for it."""

        def sleep(self, _seconds: float) -> None:
            (folder / "out.log").write_text(SAYS)
            (folder / "status.json").write_text(json.dumps(ended))

        monotonic = staticmethod(time.monotonic)
        time = staticmethod(time.time)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "time", Clock())
        made, _ = run(ONE)
    assert [(item.run, item.state) for item in made.items] == [("left", "done")]
    assert machine.launched == []


def test_times_are_measured_alone_and_last(machine: Machine) -> None:
    made, _ = run(TIMED, ONE)
    assert [item.program for item in made.items] == [ONE, TIMED]


def test_a_timed_program_waits_for_other_runs_to_end(machine: Machine) -> None:
    folder = write_run("training", {"name": "train"}, "running")
    seen: list[str | None] = []

    class Clock:
        """Ends the other run at the third look."""

        def sleep(self, _seconds: float) -> None:
            now = batch.state()
            seen.append(now.reason if now else None)
            if len(seen) == 3:
                (folder / "status.json").write_text(json.dumps({"state": "finished"}))

        monotonic = staticmethod(time.monotonic)
        time = staticmethod(time.time)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "time", Clock())
        made, _ = run(TIMED)
    assert seen == [f"{TIMED}, default measures times, so it waits for training to end"] * 3
    assert made.reason is None
    assert [item.state for item in made.items] == ["done"]


def test_it_does_not_wait_for_ever(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_S", 0.0)
    write_run("training", {"name": "train"}, "running")
    made, _ = run(TIMED)
    [item] = made.items
    assert (item.state, machine.launched) == ("refused", [])
    assert item.reason == (
        "it measures times, and training went on for too long beside it; run it again later"
    )


def test_one_batch_at_a_time(machine: Machine) -> None:
    with batch.sole_driver(), pytest.raises(Busy, match="lessons are being run already"):
        run(ONE)
    assert run(ONE)[0].state == "finished"


def test_a_driver_that_is_gone_is_told() -> None:
    items = [
        dataclasses.asdict(Item(ONE, "default", "running", "r1")),
        dataclasses.asdict(Item(TWO, "even")),
    ]
    value: dict[str, Any] = {
        "state": "running",
        "reason": None,
        "started": 5.0,
        "ended": None,
        "items": items,
    }
    value["driver"] = {"pid": 2**22 + 1, "start": 1, "boot": boot_id()}
    batch.folder().mkdir(parents=True)
    (batch.folder() / batch.STATE_NAME).write_text(json.dumps(value))
    now = batch.state()
    assert now is not None
    assert (now.state, now.going_on) == ("interrupted", False)
    assert [item.state for item in now.items] == ["stopped", "waiting"]
    assert now.reason is not None
    assert "run them again" in now.reason


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"state": 1}', '{"driver": {"pid": 1}}'])
def test_a_damaged_state_is_none(damage: str) -> None:
    assert batch.state() is None
    batch.folder().mkdir(parents=True)
    (batch.folder() / batch.STATE_NAME).write_text(damage)
    assert batch.state() is None


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "file"))
    with pytest.raises(HopscopeError, match="lessons cannot be run: Not a directory"):
        run(ONE)


def test_unknown_lessons_start_nothing() -> None:
    with pytest.raises(UsageError, match="there is no lesson 'nothing'"):
        run("nothing")
    assert batch.state() is None
