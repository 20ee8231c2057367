"""What a plan refuses for the framework's sake: cards too new for its build, a newer Python, no driver."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from runners.environments import builds, environments
from runners.environments.environments import Environment
from runners.machine.gpus import Gpu, Gpus
from runners.plan import plan as planning
from runners.plan import program_plan, script_plan
from runners.plan.plan import LaunchOptions

OLD = Gpu(0, "GPU-old", "00000000:01:00.0", "A100", (8, 0))
HOPPER = Gpu(1, "GPU-new", "00000000:02:00.0", "H200", (9, 0))
HERE = Path(sys.executable)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Two cards, one too new for MXNet, a driver, and environments of the GPU builds that are ready."""
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(builds, "driver_found", lambda: True)
    monkeypatch.setattr(environments, "build_in", lambda _python, _framework: None)
    set_python(monkeypatch, "3.11.7")
    set_gpus(monkeypatch, OLD, HOPPER)
    set_environment(monkeypatch, "ready", "gpu")
    return monkeypatch


@pytest.fixture
def script(tmp_path: Path) -> list[str]:
    file = tmp_path / "train.py"
    file.write_text("import mxnet as mx\n")
    return [str(file)]


def set_gpus(monkeypatch: pytest.MonkeyPatch, *cards: Gpu) -> None:
    found = Gpus(cards, None if cards else "no driver")
    for module in (program_plan, script_plan):
        monkeypatch.setattr(module, "known_gpus", lambda: found)


def set_environment(monkeypatch: pytest.MonkeyPatch, state: Any, build: str | None) -> None:
    def environment(name: str) -> Environment:
        return Environment(name, Path("/e"), HERE, state, None, None, "pip", Path("/e.log"), build)

    monkeypatch.setattr(environments, "environment", environment)


def set_python(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(planning, "package_versions", lambda _python: {"python": version})


def test_a_card_that_is_too_new_is_refused_by_name(script: list[str]) -> None:
    (problem,) = script_plan.plan_script(script, devices=["gpu:1"]).problems
    assert problem.startswith("gpu:1 (H200) has compute capability 9.0, and MXNet's")
    assert problem.endswith("name another card, or none")
    (problem,) = program_plan.plan_program("mx-module", devices=["gpu:1"]).problems
    assert "gpu:1 (H200) has compute capability 9.0" in problem
    assert script_plan.plan_script(script, devices=["gpu:0"]).problems == []


def test_it_is_refused_before_anything_is_installed(script: list[str], machine: pytest.MonkeyPatch) -> None:
    set_environment(machine, "missing", None)
    plan = script_plan.plan_script(script, devices=["gpu:1"])
    (problem,) = [problem for problem in plan.problems if problem != plan.unready]
    assert "compute capability 9.0" in problem


def test_the_cpu_build_is_no_advice_to_get_a_build_that_cannot_run_there(
    script: list[str], machine: pytest.MonkeyPatch
) -> None:
    set_environment(machine, "ready", "cpu")
    (problem,) = script_plan.plan_script(script, devices=["gpu:1"]).problems
    assert "compute capability 9.0" in problem and "--build gpu" not in problem
    (problem,) = script_plan.plan_script(script, devices=["gpu:0"]).problems
    assert "setup --framework mxnet --build gpu" in problem


def test_a_script_may_do_without_the_card_that_it_only_sees(script: list[str]) -> None:
    plan = script_plan.plan_script(script)
    assert plan.problems == []
    (note,) = plan.notes
    assert "gpu:1 (H200) has compute capability 9.0" in note


def test_programs_get_only_cards_that_the_build_can_use(machine: pytest.MonkeyPatch) -> None:
    assert program_plan.plan_program("mx-module").devices == ["gpu:0"]
    assert program_plan.plan_program("tf-pin-model", devices=["gpu:1"]).problems == []
    set_gpus(machine, HOPPER)
    plan = program_plan.plan_program("mx-module")
    assert (plan.problems, plan.cards) == ([], [])
    (note,) = [note for note in plan.notes if "stand-in" in note]
    assert "no GPU to use here: gpu:1 (H200) has compute capability 9.0" in note


def test_a_build_of_the_users_own_may_hold_other_code(script: list[str], machine: pytest.MonkeyPatch) -> None:
    plan = script_plan.plan_script(script, devices=["gpu:1"], launch=LaunchOptions(python=HERE))
    assert plan.problems == []
    assert "compute capability 9.0" in plan.notes[-1]
    machine.setattr(environments, "build_in", lambda _python, _framework: "gpu")
    (problem,) = script_plan.plan_script(
        script, devices=["gpu:1"], launch=LaunchOptions(python=HERE)
    ).problems
    assert "compute capability 9.0" in problem


@pytest.mark.parametrize("version", ["3.12.1", "3.14.0", "4.0.0"])
def test_a_python_without_builds_of_mxnet_is_refused(
    script: list[str], machine: pytest.MonkeyPatch, version: str
) -> None:
    set_python(machine, version)
    (problem,) = script_plan.plan_script(script, launch=LaunchOptions(python=HERE)).problems
    assert problem.startswith(f"{HERE} is Python {version}, and MXNet runs on 3.9 to 3.11: it needs numpy")
    assert (
        program_plan.plan_program(
            "tf-pin-model", devices=["gpu:0"], launch=LaunchOptions(python=HERE)
        ).problems
        == []
    )


def test_an_interpreter_that_does_not_answer_is_left_to_fail_by_itself(
    script: list[str], machine: pytest.MonkeyPatch
) -> None:
    machine.setattr(planning, "package_versions", lambda _python: {})
    assert script_plan.plan_script(script, launch=LaunchOptions(python=HERE)).problems == []


def test_without_a_driver_the_gpu_build_is_refused(script: list[str], machine: pytest.MonkeyPatch) -> None:
    set_gpus(machine)
    machine.setattr(builds, "driver_found", lambda: False)
    plan = program_plan.plan_program("mx-module", stand_ins=1)
    (problem,) = plan.problems
    assert "libcuda.so.1" in problem and problem.endswith("setup --framework mxnet --build cpu")
    assert plan.unready is None
    assert program_plan.plan_program("tf-pin-model", stand_ins=1).problems == []
    set_environment(machine, "ready", "cpu")
    assert program_plan.plan_program("mx-module", stand_ins=1).problems == []
    (problem,) = script_plan.plan_script(script, devices=["gpu:0"]).problems
    assert problem == "gpu:0 does not exist here: no driver"


def test_a_script_that_names_no_framework_is_told_where_it_runs(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text("import numpy")
    plan = script_plan.plan_script([str(file)])
    assert plan.framework == "tensorflow"
    assert plan.notes[-1].endswith("so it runs in TensorFlow's environment; else: --framework mxnet")
    assert script_plan.plan_script([str(file)], framework="mxnet").notes[-1:] != plan.notes[-1:]
