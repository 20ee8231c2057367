"""What the programs of several processes cannot do is told before they are launched."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from runners.environments import environments
from runners.environments.environments import Environment
from runners.machine.gpus import Gpu, Gpus
from runners.plan import program_plan
from runners.plan.plan import LaunchOptions, Plan

HERE = sys.executable


def cards(count: int) -> Gpus:
    return Gpus(
        tuple(Gpu(index, f"GPU-{index}", f"00000000:0{index}:00.0", "Card", (8, 6)) for index in range(count))
    )


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four cards, and an environment that can use them."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))

    def environment(name: str) -> Environment:
        return Environment(name, Path("/e"), Path(HERE), "ready", None, None, "pip", Path("/e.log"), "gpu")

    monkeypatch.setattr(environments, "environment", environment)
    monkeypatch.setattr(environments, "require", lambda name: None)
    monkeypatch.setattr(program_plan, "known_gpus", lambda: cards(4))


def plan(program: str, **more: Any) -> Plan:
    return program_plan.plan_program(program, launch=LaunchOptions(python=HERE), **more)


@pytest.mark.parametrize(
    ("program", "more", "words"),
    [
        ("tf-multiworker", {"options": {"loop": "fit"}}, "loop=fit needs keras=2: Keras 3 cannot fit"),
        (
            "tf-multiworker",
            {"options": {"loop": "fit", "keras": 2, "jit-compile": "on"}},
            "jit-compile=on works with loop=fit on GPUs only",
        ),
        (
            "tf-multiworker",
            {"options": {"communication": "nccl"}},
            "communication=nccl needs GPUs: NCCL has no kernel for CPU devices, which cpu:1 are",
        ),
        (
            "tf-multiworker",
            {"stand_ins": None, "devices": ["gpu:0"]},
            "2 workers cannot share gpu:0: NCCL takes one process a GPU; name more GPUs, or use --stand-ins, "
            "or choose communication=ring",
        ),
        (
            "tf-multiworker-checkpoint",
            {"stand_ins": None, "devices": ["gpu:0", "cpu:1"]},
            "the devices must be of one kind, and gpu:0, cpu:1 are not",
        ),
        (
            "tf-multiworker-checkpoint",
            {"options": {"batch": 3}, "stand_ins": 2},
            "batch=3 leaves some of 4 replicas without an image",
        ),
        ("tf-parameter-server", {"options": {"loop": "fit"}}, "loop=fit is not possible: Keras 3 cannot fit"),
        (
            "tf-parameter-server",
            {"options": {"jit-compile": "on"}},
            "jit-compile=on is not possible: XLA reads no variable of another process",
        ),
        (
            "tf-parameter-server",
            {"options": {"batch": 1}, "stand_ins": 2},
            "batch=1 leaves some of 2 replicas without an image",
        ),
        (
            "tf-parameter-server",
            {"options": {"ps": 60, "workers": 4}},
            "65 processes are too many for one machine: 64 at most",
        ),
    ],
)
def test_what_cannot_work_is_a_problem(program: str, more: dict[str, Any], words: str) -> None:
    problems = plan(program, **{"stand_ins": 1, **more}).problems
    assert any(problem.startswith(words) for problem in problems), problems


@pytest.mark.parametrize(
    ("program", "more"),
    [
        ("tf-multiworker", {"stand_ins": 2, "options": {"loop": "fit", "keras": 2}}),
        ("tf-multiworker", {"devices": ["gpu:0"], "options": {"communication": "ring"}}),
        ("tf-multiworker", {"devices": ["gpu:0", "gpu:1"], "options": {"communication": "nccl", "batch": 2}}),
        # A step is one worker's, so each image has to do for the replicas of one.
        ("tf-parameter-server", {"stand_ins": 2, "options": {"batch": 2, "workers": 3}}),
        ("tf-parameter-server", {"devices": ["gpu:1"]}),
    ],
)
def test_what_can_work_is_none(program: str, more: dict[str, Any]) -> None:
    assert plan(program, **more).problems == []


def test_workers_get_a_gpu_each_where_there_are_enough() -> None:
    made = plan("tf-multiworker")
    assert made.devices == ["gpu:0", "gpu:1"]
    assert [member.env["CUDA_VISIBLE_DEVICES"] for member in made.stages[0].members] == ["GPU-0", "GPU-1"]
    three = plan("tf-multiworker", options={"workers": 3})
    assert three.devices == ["gpu:0", "gpu:1", "gpu:2"]


def test_workers_without_a_gpu_each_get_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_plan, "known_gpus", lambda: cards(1))
    made = plan("tf-multiworker")
    assert (made.problems, made.devices) == ([], ["cpu:1"])
    assert made.notes[0] == (
        "1 GPU is too few for 2 processes with one each; cpu:1 is a stand-in that plays a GPU"
    )


def test_servers_and_chief_are_told_the_workers_devices_and_see_none() -> None:
    made = plan("tf-parameter-server", devices=["gpu:2", "gpu:3"], options={"ps": 1})
    members = {member.name: member for member in made.stages[0].members}
    assert list(members) == ["ps-0", "worker-0", "worker-1", "chief"]
    assert {name: member.env["CUDA_VISIBLE_DEVICES"] for name, member in members.items()} == {
        "ps-0": "-1",
        "worker-0": "GPU-2",
        "worker-1": "GPU-3",
        "chief": "-1",
    }
    assert all(member.command[2:4] == ["--devices", "gpu:0"] for member in members.values())
    assert [member.endless for member in members.values()] == [True, True, True, False]


@pytest.mark.parametrize(
    ("program", "more", "told"),
    [
        (
            "tf-multiworker",
            {"stand_ins": 1, "options": {"batch": 65}},
            "64 images a step: 2 replicas take 32",
        ),
        (
            "tf-multiworker-checkpoint",
            {"stand_ins": 2, "options": {"batch": 7}},
            "4 images a step: 4 replicas take 1",
        ),
        # Each step is one worker's alone.
        (
            "tf-parameter-server",
            {"stand_ins": 2, "options": {"batch": 65}},
            "64 images a step: 2 replicas take 32",
        ),
        ("tf-mirrored", {"stand_ins": 3}, "63 images a step: 3 replicas take 21"),
        ("tf-central-storage", {"stand_ins": 3}, "63 images a step: 3 replicas take 21"),
        ("tf-parameter-server", {"stand_ins": 1, "options": {"batch": 1}}, None),
        ("tf-mirrored-uneven", {"stand_ins": 3}, None),
        ("mx-dist-sync", {"stand_ins": 1, "options": {"batch": 65}}, None),
    ],
)
def test_what_is_left_out_of_a_batch_is_told(program: str, more: dict[str, Any], told: str | None) -> None:
    made = plan(program, **more)
    assert made.problems == []
    left_out = [note for note in made.notes if "is left out" in note]
    assert [told in note for note in left_out if told] == ([True] if told else [])
    assert len(left_out) == (1 if told else 0)
