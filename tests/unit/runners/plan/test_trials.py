"""A run that is tried again with a change: it keeps all else that the run was made with."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runners.errors import UsageError
from runners.plan.plan import INJECT, LaunchOptions, Plan
from runners.plan.preflight_plan import Extent, as_preflight, plan_preflight
from runners.plan.script_plan import plan_script
from runners.plan.trials import plan_trial, write_edits
from runners.runs import ownership
from runners.runs.purpose import purpose, tried
from runners.runs.run import Run, read_run
from runners.runs.trial import Trial

FINDING = "host-sync@train.py:1"


@pytest.fixture
def scripts(tmp_path: Path, hopscope_home: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    for name in ("train.py", "helper.py"):
        (folder / name).write_text("import mxnet\n")
    return folder


def run_of(plan: Plan, folder: Path, edits: Mapping[str, str] | None = None, own: bool = True) -> Run:
    """The run of a plan, as it stands in its folder when it has ended."""
    folder.mkdir()
    trial = Trial("first", FINDING, dict(edits or {}))
    more: dict[str, Any] = {"trial": trial.as_json()} if edits else {}
    more |= {} if plan.preflight is None else {"preflight": dict(plan.preflight)}
    spec = {"kind": "script", "framework": plan.framework, "command": plan.command, "cwd": str(plan.cwd)}
    (folder / "spec.json").write_text(json.dumps(spec | {"env": plan.env, "devices": plan.devices} | more))
    (folder / "status.json").write_text(json.dumps({"state": "finished", "exit_code": 0}))
    write_edits(folder, folder, trial)
    if own:
        ownership.sign(folder)
    return read_run(folder)


@pytest.mark.parametrize("devices", [None, ["cpu:0"]])
def test_the_users_variables_are_set_again(
    scripts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, devices: list[str] | None
) -> None:
    own = {"MINE": "a b", "PYTHONPATH": "/my/modules", "PYTHONUNBUFFERED": "x", "TF_CPP_MIN_LOG_LEVEL": "3"}
    own |= {} if devices else {"CUDA_VISIBLE_DEVICES": "1"}
    first = plan_script(
        ["train.py"], cwd=scripts, launch=LaunchOptions(python=sys.executable), devices=devices, variables=own
    )
    run = run_of(first, tmp_path / "20260101-000000-train-0000")
    monkeypatch.setenv("PYTHONPATH", "/of/another/launcher")
    again = plan_trial(run, FINDING)
    assert (again.problems, again.env) == ([], first.env)
    assert again.env["PYTHONPATH"] == f"{INJECT}:/my/modules"


def test_the_exact_mode_stays(scripts: Path, tmp_path: Path) -> None:
    first = plan_script(["train.py"], cwd=scripts, launch=LaunchOptions(python=sys.executable, exact=True))
    again = plan_trial(run_of(first, tmp_path / "20260101-000000-train-0000"), FINDING)
    assert again.env == first.env and again.env["HOPSCOPE_EXACT_LINES"] == "1"
    assert any("exact lines" in note for note in again.notes)


def test_a_preflight_is_flown_for_the_same_machine_with_the_same_variables(
    scripts: Path, tmp_path: Path
) -> None:
    plain = plan_script(
        ["train.py", "--epochs", "3"],
        cwd=scripts,
        launch=LaunchOptions(python=sys.executable),
        devices=["cpu:0"],
        variables={"MINE": "1"},
    )
    first = as_preflight(plain, extent=Extent(steps=5, gpus=4, seconds=30, kernels="some table"))
    again = plan_trial(run_of(first, tmp_path / "20260101-000000-train-0000"), FINDING)
    assert (again.preflight, again.env, again.command) == (first.preflight, first.env, first.command)
    assert again.time_limit_s == first.time_limit_s


def test_a_run_of_edited_copies_is_tried_with_those_too(scripts: Path, tmp_path: Path) -> None:
    plan = plan_script(["train.py"], cwd=scripts, launch=LaunchOptions(python=sys.executable))
    train, helper = str(scripts / "train.py"), str(scripts / "helper.py")
    once = run_of(plan, tmp_path / "20260101-000000-train-0000", {helper: "SECOND = 2\n", train: "x = 2\n"})
    again = plan_trial(once, FINDING, edits={train: "x = 3\n"})
    assert again.trial is not None
    assert again.trial.edits == {helper: "SECOND = 2\n", train: "x = 3\n"}


def test_what_a_run_was_made_for(scripts: Path, tmp_path: Path) -> None:
    flown = plan_preflight(["train.py"], cwd=scripts, launch=LaunchOptions(python=sys.executable))
    plain = plan_script(["train.py"], cwd=scripts, launch=LaunchOptions(python=sys.executable))
    edits = {str(scripts / "train.py"): "x = 2\n"}
    runs = [
        run_of(plan, tmp_path / f"20260101-00000{number}-train-0000", edited)
        for number, (plan, edited) in enumerate([(plain, {}), (flown, {}), (plain, edits), (flown, edits)])
    ]
    told = ["", "pre-flight", "tries a fix", "pre-flight, tries a fix"]
    assert [purpose(run) for run in runs] == told
    trials = [tried(run) for run in runs]
    assert trials[:2] == [None, None]
    assert [(one.of, one.finding) for one in trials if one] == [("first", FINDING)] * 2


@pytest.fixture
def received(scripts: Path, tmp_path: Path) -> tuple[Run, Path]:
    """A run folder from elsewhere whose interpreter is a trap, and what is there once that was started."""
    sprung = tmp_path / "sprung"
    trap = tmp_path / "python"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o755)
    plan = plan_script(["train.py"], cwd=scripts, launch=LaunchOptions(python=sys.executable))
    plan = dataclasses.replace(plan, command=[str(trap), *plan.command[1:]])
    return run_of(plan, tmp_path / "20260101-000000-train-0000", own=False), sprung


def test_nothing_of_a_received_run_is_started_unasked(received: tuple[Run, Path]) -> None:
    """Not even to ask its interpreter which versions it has."""
    run, sprung = received
    for confirmed in ("", "wrong"):
        with pytest.raises(UsageError, match="was not launched from here"):
            plan_trial(run, FINDING, confirmed=confirmed)
    assert not sprung.exists()
    plan_trial(run, FINDING, confirmed=ownership.fingerprint(run))
    assert sprung.exists()


def test_what_was_confirmed_is_what_was_shown(received: tuple[Run, Path]) -> None:
    run, sprung = received
    shown = ownership.fingerprint(run)
    (run.path / "spec.json").write_text(json.dumps({**run.spec, "env": {"LD_PRELOAD": "/tmp/evil.so"}}))
    with pytest.raises(UsageError, match="nobody has confirmed"):
        plan_trial(run.reload(), FINDING, confirmed=shown)
    assert not sprung.exists()


@pytest.mark.parametrize(
    "damage", [{"command": [7, None]}, {"command": "x"}, {"env": [1]}, {"preflight": {"steps": "x"}}]
)
def test_a_damaged_spec_is_one_line(received: tuple[Run, Path], damage: dict[str, Any]) -> None:
    run, _ = received
    (run.path / "spec.json").write_text(json.dumps({**run.spec, **damage}))
    run = run.reload()
    with contextlib.suppress(UsageError):
        plan_trial(run, FINDING, confirmed=ownership.fingerprint(run))
