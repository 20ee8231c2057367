"""The exact mode: what it changes of a plan, and what it is refused for."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.parser import Parser, add_launch_options
from runners.machine.gpus import Gpus
from runners.plan import program_plan, script_plan
from runners.plan.plan import LaunchOptions

MODE = {"MXNET_ENGINE_TYPE": "NaiveEngine", "HOPSCOPE_EXACT_LINES": "1"}


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MXNET_ENGINE_TYPE", raising=False)
    for module in (program_plan, script_plan):
        monkeypatch.setattr(module, "known_gpus", lambda: Gpus(problem="no driver"))


def test_a_programs_recorder_gets_the_frameworks_variables_and_the_plan_says_so() -> None:
    made = program_plan.plan_program("mx-gluon-data-parallel", stand_ins=2, launch=LaunchOptions(exact=True))
    assert MODE.items() <= made.env.items()
    assert made.notes[-1].startswith("exact lines: one operation runs at a time")
    plain = program_plan.plan_program("mx-gluon-data-parallel", stand_ins=2)
    assert made.env.keys() - plain.env.keys() == MODE.keys()
    assert made.command == plain.command


def test_times_are_measured_without_it() -> None:
    measured, recorded = program_plan.plan_program("mx-log-norm", launch=LaunchOptions(exact=True)).stages
    assert [member.env.get("MXNET_ENGINE_TYPE", "as the run's") for member in measured.members] == [None]
    assert [member.env for member in recorded.members] == [{}]


def test_the_users_own_engine_is_left_to_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "ThreadedEngine")
    measured, _ = program_plan.plan_program("mx-log-norm", launch=LaunchOptions(exact=True)).stages
    assert measured.members[0].env["MXNET_ENGINE_TYPE"] == "ThreadedEngine"


def test_tensorflow_counts_exactly_only_where_that_was_asked_for() -> None:
    made = program_plan.plan_program("tf-mirrored", stand_ins=2, launch=LaunchOptions(exact=True))
    assert made.env["HOPSCOPE_EXACT"] == "1"
    assert made.notes[-1].startswith("exact counts: TensorFlow's verbose log is on")
    assert "HOPSCOPE_EXACT" not in program_plan.plan_program("tf-mirrored", stand_ins=2).env


@pytest.mark.parametrize("option", ["--exact", "--exact-lines"])
def test_one_option_asks_for_it_and_its_older_name_too(option: str) -> None:
    parser = Parser("run", "")
    add_launch_options(parser, "")
    assert parser.parse([option]).exact


def test_it_is_for_the_recorder(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import mxnet\n")
    made = script_plan.plan_script([str(script)], launch=LaunchOptions(exact=True, record=False))
    assert any("--no-record leaves that out" in problem for problem in made.problems)
    made = script_plan.plan_script([str(script)], launch=LaunchOptions(exact=True))
    assert MODE.items() <= made.env.items()
