"""Which runs can be resumed, what a resumed one takes over, and what is copied."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from app.web.run import run_panel
from runners.errors import UsageError
from runners.plan.launcher import plan_program
from runners.plan.plan import LaunchOptions
from runners.plan.resuming import CHECKPOINTS, copy_checkpoints, last_checkpoint, resumable, saves_itself
from runners.runs import registry
from runners.runs.run import Run, read_run

NAME = "tf-multiworker-checkpoint"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def ended(home: Path, *files: str, state: str = "failed", name: str = NAME, **spec: Any) -> Run:
    """A run that has ended, with these files among its checkpoints."""
    folder = home / "runs" / "before"
    (folder / CHECKPOINTS).mkdir(parents=True)
    for file in files:
        (folder / CHECKPOINTS / file).parent.mkdir(exist_ok=True)
        (folder / CHECKPOINTS / file).write_text(file)
    told = {"kind": "program", "name": name, "steps": 100, "stand_ins": 1, "devices": ["cpu:1"], **spec}
    (folder / "spec.json").write_text(json.dumps(told))
    (folder / "status.json").write_text(json.dumps({"state": state, "exit_code": 1, "signal": None}))
    return read_run(folder)


SAVED = ("checkpoint", "losses.csv", "step-8.index", "step-8.data-00000-of-00001", "step-12.index")


def test_the_newest_checkpoint_is_that_of_the_highest_step(home: Path) -> None:
    run = ended(home, *SAVED, "step-99_temp/part", "step-x.index")
    assert (last_checkpoint(run), resumable(run), saves_itself(run)) == (12, None, True)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"files": ("step-8.data-00000-of-00001",)}, "before ended before its first checkpoint was whole"),
        ({"state": "finished"}, "before has finished all its steps; with more of them, --steps,"),
        ({"name": "tf-mirrored"}, "tf-mirrored saves no checkpoints to go on from"),
        ({"kind": "script"}, f"{NAME} saves no checkpoints to go on from"),
    ],
)
def test_why_a_run_cannot_be_resumed(home: Path, more: dict[str, Any], reason: str) -> None:
    files = more.pop("files", SAVED)
    run = ended(home, *files, **more)
    assert (resumable(run) or "").startswith(reason)
    told = plan_program(NAME, resume=run.id, launch=LaunchOptions(python=sys.executable)).problems
    if run.name == NAME:
        assert resumable(run) in told
    else:
        assert told == [f"before is a run of {run.name}, so {NAME} cannot go on with it"]


def test_only_what_belongs_to_checkpoints_is_copied(home: Path, tmp_path: Path) -> None:
    run = ended(home, *SAVED, "worker-1/step-12.index", "notes.txt")
    target = tmp_path / "new"
    target.mkdir()
    copy_checkpoints(run, target)
    assert sorted(file.name for file in (target / CHECKPOINTS).iterdir()) == sorted(SAVED)


def test_no_link_is_followed_to_what_is_not_the_runs(home: Path, tmp_path: Path) -> None:
    """A folder from elsewhere may hold one that leads to a key."""
    run = ended(home, *SAVED)
    (tmp_path / "key").write_text("secret")
    (run.path / CHECKPOINTS / "step-13.index").symlink_to(tmp_path / "key")
    target = tmp_path / "new"
    target.mkdir()
    copy_checkpoints(run, target)
    assert not (target / CHECKPOINTS / "step-13.index").exists()
    with pytest.raises(UsageError, match="was not launched from here, so its checkpoints are not loaded"):
        run_panel.resume(run)


def test_a_resumed_run_is_as_the_one_before_unless_it_is_said(home: Path) -> None:
    options = {"width": 32, "seed": 3, "workers": 3, "batch": 64, "data": "digits", "jit-compile": "off"}
    run = ended(home, *SAVED, options=options, stand_ins=2, devices=["cpu:2", "cpu:1"])
    plan = plan_program(
        NAME, resume=run.id, launch=LaunchOptions(python=sys.executable), options={"log-every": 5}
    )
    assert plan.problems == []
    assert (plan.devices, plan.stand_ins, plan.steps) == (["cpu:2", "cpu:1"], 2, 100)
    assert plan.options == plan.options | options | {"log-every": 5}
    assert plan.notes[0] == "goes on from step 12 of before"
    assert plan.resumes is not None and plan.resumes.id == "before"
    (stage,) = plan.stages
    assert len(stage.members) == 3
    words = stage.members[2].command
    assert words[words.index("--checkpoints") + 1] == str(home / "runs" / "<run>" / "checkpoints")
    assert words[words.index("--devices") + 1] == "cpu:2,cpu:1"

    other = plan_program(
        NAME, resume=str(run.path), launch=LaunchOptions(python=sys.executable), stand_ins=1, steps=50
    )
    assert (other.problems, other.devices, other.steps) == ([], ["cpu:1"], 50)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"steps": 12}, "--steps 12 are over already: the last checkpoint of before is of step 12"),
        ({"options": {"width": 64}}, "width=64 is not possible: before, which is gone on with, has width=32"),
    ],
)
def test_what_contradicts_the_run_before_is_a_problem(home: Path, more: dict[str, Any], words: str) -> None:
    run = ended(home, *SAVED, options={"width": 32})
    assert plan_program(
        NAME, resume=run.id, launch=LaunchOptions(python=sys.executable), **more
    ).problems == [words]


def test_a_finished_run_is_gone_on_with_where_there_are_more_steps(home: Path) -> None:
    run = ended(home, *SAVED, state="finished")
    assert (
        plan_program(NAME, resume=run.id, launch=LaunchOptions(python=sys.executable), steps=200).problems
        == []
    )


def test_a_run_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="there is no run 'gone'"):
        plan_program(NAME, resume="gone", launch=LaunchOptions(python=sys.executable))
    assert registry.runs() == []
