"""Plans: command, environment and problems, before anything is launched."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runners.environments import environments
from runners.environments.environments import Environment
from runners.errors import UsageError
from runners.machine.gpus import Gpu, Gpus
from runners.plan import program_plan
from runners.plan import script_plan as plan_script
from runners.plan.plan import INJECT, ROOT, LaunchOptions
from runners.runs import leases

A = Gpu(0, "GPU-aaaa", "00000000:01:00.0", "Card X", (9, 0))
B = Gpu(1, "GPU-bbbb", "00000000:02:00.0", "Card X", (9, 0))
C = Gpu(2, "GPU-cccc", "00000000:03:00.0", "Card X", (12, 0))
HERE = Path(sys.executable)
SCRIPTS = ROOT / "runners" / "programs" / "tensorflow"
plan = program_plan.plan_program
script_plan = plan_script.plan_script


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine without GPUs, with no run and a ready environment of the GPU build."""
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PYTHONPATH", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    set_gpus(monkeypatch, Gpus(problem="no driver"))
    set_environment(monkeypatch, "ready", "gpu")
    return monkeypatch


def set_gpus(monkeypatch: pytest.MonkeyPatch, gpus: Gpus) -> None:
    for module in (program_plan, plan_script):
        monkeypatch.setattr(module, "known_gpus", lambda: gpus)


def set_environment(monkeypatch: pytest.MonkeyPatch, state: str, build: str | None) -> None:
    def environment(name: str) -> Environment:
        return Environment(name, Path("/e"), HERE, state, None, None, "pip", Path("/e.log"), build)  # type: ignore[arg-type]

    monkeypatch.setattr(environments, "environment", environment)


@pytest.fixture
def three_gpus(machine: pytest.MonkeyPatch) -> None:
    set_gpus(machine, Gpus((A, B, C)))


def test_stand_ins_and_options_are_the_scripts_own_words() -> None:
    made = plan("tf-mirrored", stand_ins=3, steps=7, options={"batch": 96, "loop": "custom"})
    assert made.problems == []
    assert made.command == [
        str(HERE),
        str(SCRIPTS / "mirrored" / "train.py"),
        *("--stand-ins", "3", "--steps", "7", "--batch", "96", "--loop", "custom"),
    ]
    assert (made.devices, made.stand_ins, made.steps) == (["cpu:1", "cpu:2", "cpu:3"], 3, 7)
    assert (made.options["batch"], made.options["cross-device-ops"]) == (96, "default")
    assert made.device_map["cpu:3"] == {"stand_in": True}
    assert set(made.env) == {"HOPSCOPE_RUN_DIR", "HOPSCOPE_TRACE", "PYTHONUNBUFFERED", "PYTHONPATH"}
    assert (made.cwd, made.cards, made.unready) == (ROOT, [], None)


def test_an_options_name_may_have_underscores() -> None:
    made = plan("tf-mirrored", stand_ins=2, options={"cross_device_ops": "reduction-to-one-device"})
    assert (made.problems, made.options["cross-device-ops"]) == ([], "reduction-to-one-device")
    assert made.command[-2:] == ["--cross-device-ops", "reduction-to-one-device"]


def test_named_stand_ins_keep_their_order() -> None:
    made = plan("tf-model-parallel", devices=["cpu:2", "cpu:1"])
    assert made.command[2:] == ["--devices", "cpu:2,cpu:1", "--stand-ins", "2"]


def test_without_gpus_and_without_a_word_stand_ins_are_taken_and_told() -> None:
    made = plan("tf-model-parallel")
    assert made.command[2:] == ["--stand-ins", "3"]
    assert made.notes == ["no GPU to use here: no driver; cpu:1, cpu:2, cpu:3 are stand-ins that play GPUs"]
    assert plan("tf-pin-gradients", stand_ins=4, options={"device": "cpu:4"}).problems == []


@pytest.mark.usefixtures("three_gpus")
class TestOnGpus:
    def test_named_cards_get_the_process_own_numbers(self) -> None:
        made = plan("tf-pin-gradients", devices=["gpu:2", "gpu:0"], options={"device": "gpu:2"})
        assert made.problems == []
        assert made.command[2:] == ["--devices", "gpu:0,gpu:1", "--device", "gpu:0"]
        assert made.env["CUDA_VISIBLE_DEVICES"] == "GPU-cccc,GPU-aaaa"
        assert made.env["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
        assert made.devices == ["gpu:2", "gpu:0"]
        assert made.cards == [C, A]
        assert made.device_map["gpu:0"]["uuid"] == "GPU-cccc"
        assert "compute capability 12.0" in made.notes[-1]

    def test_free_cards_are_taken_by_default(self, tmp_path: Path) -> None:
        held = leases.take(tmp_path / "home", ["GPU-aaaa"], "another-run")
        made = plan("tf-mirrored")
        assert (made.devices, made.problems) == (["gpu:1", "gpu:2"], [])
        leases.release(held)
        assert plan("tf-mirrored").devices == ["gpu:0", "gpu:1"]

    def test_who_holds_a_card_is_told(self, tmp_path: Path) -> None:
        held = leases.take(tmp_path / "home", ["GPU-aaaa"], "another-run")
        assert plan("tf-mirrored", devices=["gpu:0"]).problems == [
            "gpu:0 (Card X) is in use by run another-run: stop that, name other devices with --devices, "
            "or use it together with --share"
        ]
        assert plan("tf-mirrored", devices=["gpu:0"], launch=LaunchOptions(share=True)).problems == []
        leases.release(held)

    def test_stand_ins_take_no_card(self) -> None:
        made = plan("tf-mirrored", stand_ins=2)
        assert (made.cards, "CUDA_VISIBLE_DEVICES" in made.env) == ([], False)

    def test_a_cpu_build_has_no_use_for_cards(self, machine: pytest.MonkeyPatch) -> None:
        set_environment(machine, "ready", "cpu")
        assert plan("tf-mirrored").devices == ["cpu:1", "cpu:2"]
        (problem,) = plan("tf-mirrored", devices=["gpu:0"]).problems
        assert "setup --framework tensorflow --build gpu" in problem

    def test_a_script_is_leased_what_it_sees_and_nothing_is_changed(
        self, tmp_path: Path, machine: pytest.MonkeyPatch
    ) -> None:
        script = tmp_path / "train.py"
        script.touch()
        made = script_plan([str(script)])
        assert (made.cards, made.devices) == ([A, B, C], None)
        assert not {name for name in made.env if "CUDA" in name}
        machine.setenv("CUDA_VISIBLE_DEVICES", "GPU-bbbb")
        assert script_plan([str(script)]).cards == [B]
        machine.setenv("CUDA_VISIBLE_DEVICES", "")
        assert script_plan([str(script)]).cards == []

    def test_a_script_is_given_cards_or_the_host(self, tmp_path: Path) -> None:
        script = tmp_path / "train.py"
        script.touch()
        assert script_plan([str(script)], devices=["gpu:1"]).env["CUDA_VISIBLE_DEVICES"] == "GPU-bbbb"
        assert script_plan([str(script)], devices=["cpu:0"]).env["CUDA_VISIBLE_DEVICES"] == "-1"
        (problem,) = script_plan([str(script)], devices=["cpu:1"]).problems
        assert "cpu:1 is a stand-in, and only catalogued programs make those" in problem


@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("tf-mirrored", {"options": {"cross-device-ops": "nccl"}}, "nccl needs GPUs"),
        ("tf-mirrored", {"options": {"los": "fit"}}, "no option 'los'"),
        ("tf-mirrored", {"options": {"batch": "0"}}, "batch=0 is not possible"),
        ("tf-mirrored", {"stand_ins": 3, "options": {"batch": 2}}, "batch=2 leaves some of 3 replicas"),
        (
            "tf-mirrored",
            {"stand_ins": 3, "options": {"cross-device-ops": "hierarchical-copy"}},
            "cross-device-ops=hierarchical-copy needs an even number of devices, not 3",
        ),
        (
            "tf-mirrored",
            {"options": {"jit-compile": "on"}},
            "jit-compile=on works with loop=fit on GPUs only",
        ),
        ("tf-mirrored", {"steps": 0}, "--steps 0 is not possible"),
        ("tf-mirrored", {"devices": ["gpu:0"]}, "gpu:0 does not exist here: no driver"),
        ("tf-model-parallel", {"stand_ins": 1}, "needs at least 2 devices, not 1"),
        ("tf-model-parallel", {"stand_ins": 7}, "layers=6 are too few for 7 devices"),
        ("tf-model-parallel", {"options": {"split": "2"}}, "split=2 has 1 points, and 3 devices need 2"),
        ("tf-model-parallel", {"options": {"split": "4,2"}}, "split=4,2 does not rise"),
        ("tf-model-parallel", {"options": {"split": "2,6"}}, "split=2,6 names layer 6"),
        ("tf-pin-model", {"stand_ins": 2, "options": {"device": "cpu:3"}}, "device=cpu:3 is not one of"),
        ("tf-pin-model", {"options": {"device": "cpu:9"}}, "device=cpu:9 is not one of"),
        (
            "tf-pin-model",
            {"launch": LaunchOptions(python="/no/such/python")},
            "no Python interpreter at /no/such/python",
        ),
    ],
)
def test_what_cannot_work_is_one_problem(name: str, more: dict[str, object], words: str) -> None:
    (problem,) = plan(name, **more).problems  # type: ignore[arg-type]
    assert words in problem
    assert "\n" not in problem


def test_an_unknown_program_has_no_plan() -> None:
    with pytest.raises(UsageError, match="did you mean tf-mirrored"):
        plan("tf-mirored")


def test_an_environment_that_is_not_ready_is_a_problem_apart(machine: pytest.MonkeyPatch) -> None:
    set_environment(machine, "missing", None)
    made = plan("tf-mirrored", options={"batch": "0"})
    assert made.unready is not None
    assert "setup --framework tensorflow" in made.unready
    assert made.unready in made.problems
    assert len(made.problems) == 2
    assert plan("tf-mirrored", launch=LaunchOptions(python=HERE)).unready is None


class TestScript:
    def test_it_runs_as_it_would_without_us(self, tmp_path: Path) -> None:
        (tmp_path / "My Train.py").write_text("import mxnet")
        made = script_plan(["My Train.py", "--epochs", "3"], launch=LaunchOptions(python=HERE), cwd=tmp_path)
        assert made.command == [str(HERE), "My Train.py", "--epochs", "3"]
        assert (made.cwd, made.name, made.framework) == (tmp_path, "my-train", "mxnet")
        assert made.problems == []

    def test_a_module(self, tmp_path: Path) -> None:
        (tmp_path / "pack").mkdir()
        (tmp_path / "pack" / "go.py").write_text("import tensorflow")
        made = script_plan(["pack.go", "-v"], launch=LaunchOptions(python=HERE), cwd=tmp_path, module=True)
        assert made.command == [str(HERE), "-m", "pack.go", "-v"]
        assert (made.name, made.framework) == ("go", "tensorflow")

    @pytest.mark.parametrize(
        ("target", "words"),
        [
            ("trian.py", "the script trian.py does not exist; did you mean train.py?"),
            ("python3", "python3 is an interpreter: name the script itself"),
            ("folder", "folder is a folder without a __main__.py"),
        ],
    )
    def test_what_is_no_script(self, tmp_path: Path, target: str, words: str) -> None:
        (tmp_path / "train.py").touch()
        (tmp_path / "folder").mkdir()
        (problem,) = script_plan([target], launch=LaunchOptions(python=HERE), cwd=tmp_path).problems
        assert problem.startswith(words)

    def test_no_script_at_all(self) -> None:
        with pytest.raises(UsageError, match="no script is named"):
            script_plan([])

    def test_a_framework_without_an_environment_wants_an_interpreter(self, tmp_path: Path) -> None:
        (tmp_path / "train.py").touch()
        (problem,) = script_plan(["train.py"], framework="torch", cwd=tmp_path).problems
        assert problem == "there is no framework 'torch'; there is tensorflow and mxnet"


class TestRecorderEnvironment:
    def test_it_is_put_before_the_users_path(self, machine: pytest.MonkeyPatch) -> None:
        machine.setenv("PYTHONPATH", f"/mine:{INJECT}:/yours")
        assert plan("tf-mirrored").env["PYTHONPATH"] == f"{INJECT}:/mine:/yours"
        machine.setenv("PYTHONPATH", "")
        assert plan("tf-mirrored").env["PYTHONPATH"] == str(INJECT)

    def test_without_recording_the_path_is_left_alone(self) -> None:
        made = plan("tf-mirrored", launch=LaunchOptions(record=False))
        assert made.env["HOPSCOPE_TRACE"] == "0"
        assert "PYTHONPATH" not in made.env

    def test_the_run_folder_is_named_as_it_will_be(self, tmp_path: Path) -> None:
        assert plan("tf-mirrored").env["HOPSCOPE_RUN_DIR"] == str(tmp_path / "home" / "runs" / "<run>")
