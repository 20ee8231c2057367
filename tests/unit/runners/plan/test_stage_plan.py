"""Plans of programs in stages and of several processes."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from runners import catalogue
from runners.cluster import Cluster, Counts, Role
from runners.environments import environments
from runners.environments.environments import Environment
from runners.machine.gpus import Gpu, Gpus
from runners.plan import program_plan
from runners.plan.plan import INJECT, LaunchOptions, Plan
from runners.program import Option, Program

CARDS = tuple(Gpu(index, f"GPU-{index}", f"00000000:0{index}:00.0", "Card", (8, 6)) for index in range(4))
HERE = sys.executable


def addresses(role: str, rank: int, counts: Counts) -> dict[str, str | None]:
    """As TensorFlow's workers want to be told of each other."""
    cluster = {name: [f"localhost:<port:{name}-{i}>" for i in range(count)] for name, count in counts.items()}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": role, "index": rank}})}


def program(folder: Path, **more: Any) -> Program:
    """A program whose script does not matter."""
    (folder / "train.py").touch()
    return Program(
        name="some-program",
        framework="tensorflow",
        title="",
        summary="",
        script=folder / "train.py",
        options=(
            Option("batch", "", 64, type="count"),
            Option("repeats", "", 5, type="count"),
            Option("workers", "", 2, type="count"),
            Option("limit", "", 30, type="count"),
        ),
        min_devices=1,
        max_devices=None,
        default_devices=1,
        claim="",
        variants=(),
        advice="",
        **more,
    )


WORKERS = Cluster((Role("worker", option="workers"),), addresses, "loopback", "limit")
SERVED = Cluster(
    (Role("ps", serves=True, arguments=("-m", "serve")), Role("worker", option="workers")),
    addresses,
    "loopback",
    "limit",
)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "PYTHONUNBUFFERED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))

    def environment(name: str) -> Environment:
        return Environment(name, Path("/e"), Path(HERE), "ready", None, None, "pip", Path("/e.log"), "gpu")

    monkeypatch.setattr(environments, "environment", environment)
    monkeypatch.setattr(environments, "require", lambda name: None)
    monkeypatch.setattr(program_plan, "known_gpus", lambda: Gpus(CARDS))


def plan(monkeypatch: pytest.MonkeyPatch, made: Program, **more: Any) -> Plan:
    monkeypatch.setitem(catalogue.PROGRAMS, made.name, made)
    return program_plan.plan_program(made.name, **more)


def test_a_program_of_one_process_has_no_stages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = plan(monkeypatch, program(tmp_path), stand_ins=1)
    assert (made.problems, made.stages, made.time_limit_s) == ([], (), None)


def test_a_timed_program_is_measured_bare_and_then_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = plan(monkeypatch, program(tmp_path, timed=True), stand_ins=2, options={"repeats": 7, "batch": 32})
    assert made.problems == []
    measure, record = made.stages
    assert (measure.name, record.name) == ("measure", "record")
    (bare,), (seen,) = measure.members, record.members
    script = [HERE, str(tmp_path / "train.py"), "--stand-ins", "2", "--batch", "32"]
    assert bare.command == [*script, "--repeats", "7"]
    assert seen.command == [*script, "--repeats", "1"]
    assert made.env["HOPSCOPE_TRACE"] == "1"
    assert str(made.env["PYTHONPATH"]).startswith(str(INJECT))
    assert bare.env == {"HOPSCOPE_TRACE": "0", "PYTHONPATH": "/mine"}
    assert seen.env == {}
    assert made.command == bare.command
    unrecorded = plan(
        monkeypatch, program(tmp_path, timed=True), stand_ins=2, launch=LaunchOptions(record=False)
    )
    assert (unrecorded.stages, unrecorded.env["HOPSCOPE_TRACE"]) == ((), "0")


def test_without_a_path_of_the_users_none_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PYTHONPATH")
    made = plan(monkeypatch, program(tmp_path, timed=True), stand_ins=2)
    assert made.stages[0].members[0].env["PYTHONPATH"] is None


class TestProcesses:
    def test_each_has_its_place_and_the_launchers_options_stay_here(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        made = plan(
            monkeypatch,
            program(tmp_path, cluster=SERVED),
            stand_ins=2,
            options={"workers": 3, "limit": 9, "batch": 60},
        )
        assert (made.problems, made.time_limit_s) == ([], 9.0)
        assert made.notes == ["each of worker:0, worker:1, worker:2 has its own cpu:1, cpu:2"]
        assert made.warning == (
            "While it runs, its processes listen on loopback without a password:"
            " whoever reaches them can run code as you."
        )
        (stage,) = made.stages
        assert [member.name for member in stage.members] == ["ps", "worker-0", "worker-1", "worker-2"]
        assert [member.serves for member in stage.members] == [True, False, False, False]
        assert [(member.role, member.rank) for member in stage.members][::3] == [("ps", 0), ("worker", 2)]
        server, *workers = stage.members
        assert server.command == [HERE, "-m", "serve"]
        for worker in workers:
            assert worker.command == [HERE, str(tmp_path / "train.py"), "--stand-ins", "2", "--batch", "60"]
        told = json.loads(workers[1].env["TF_CONFIG"] or "")
        assert told["task"] == {"type": "worker", "index": 1}
        assert told["cluster"]["worker"][2] == "localhost:<port:worker-2>"
        assert list(made.device_map)[::5] == ["worker:0/cpu:1", "worker:2/cpu:2"]

    def test_gpus_are_shared_out_where_there_are_enough(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        devices = ["gpu:3", "gpu:0", "gpu:1", "gpu:2"]
        made = plan(monkeypatch, program(tmp_path, cluster=SERVED), devices=devices)
        assert made.problems == []
        server, first, second = made.stages[0].members
        assert first.env["CUDA_VISIBLE_DEVICES"] == "GPU-3,GPU-0"
        assert second.env["CUDA_VISIBLE_DEVICES"] == "GPU-1,GPU-2"
        assert server.env["CUDA_VISIBLE_DEVICES"] == "-1"
        assert first.command[2:] == second.command[2:] == ["--devices", "gpu:0,gpu:1"]
        assert made.device_map["worker:1/gpu:0"]["uuid"] == "GPU-1"
        assert [card.uuid for card in made.cards] == ["GPU-3", "GPU-0", "GPU-1", "GPU-2"]
        assert "worker:0 gets gpu:3, gpu:0" in made.notes

    def test_too_few_gpus_are_used_by_all(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        made = plan(monkeypatch, program(tmp_path, cluster=WORKERS), devices=["gpu:1"])
        assert made.problems == []
        assert [member.env["CUDA_VISIBLE_DEVICES"] for member in made.stages[0].members] == ["GPU-1"] * 2
        assert "each of worker:0, worker:1 uses gpu:1" in made.notes

    @pytest.mark.parametrize(
        ("more", "words"),
        [
            ({"devices": ["gpu:0", "gpu:1", "gpu:2"]}, "3 GPUs cannot be shared out evenly to 2 processes"),
            ({"stand_ins": 2, "options": {"batch": 3}}, "batch=3 leaves some of 4 replicas without an image"),
            ({"stand_ins": 1, "options": {"workers": 999}}, "999 processes are too many for one machine"),
            ({"stand_ins": 1, "options": {"workers": 0}}, "workers=0 is not possible"),
        ],
    )
    def test_what_cannot_work_is_one_problem(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: dict[str, Any], words: str
    ) -> None:
        (problem,) = plan(monkeypatch, program(tmp_path, cluster=WORKERS), **more).problems
        assert words in problem

    def test_both_stages_of_a_timed_one_have_all_of_them(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        made = plan(monkeypatch, program(tmp_path, cluster=WORKERS, timed=True), stand_ins=1)
        measure, record = made.stages
        assert [member.env["HOPSCOPE_TRACE"] for member in measure.members] == ["0", "0"]
        assert not any("HOPSCOPE_TRACE" in member.env for member in record.members)
        assert all(member.command[-2:] == ["--repeats", "1"] for member in record.members)


def test_mx_dist_sync_is_a_scheduler_servers_and_workers_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = program_plan.plan_program(
        "mx-dist-sync",
        stand_ins=1,
        launch=LaunchOptions(python=HERE),
        options={"servers": 2, "kvstore": "dist-async"},
    )
    (stage,) = made.stages
    assert [member.name for member in stage.members] == [
        *("scheduler", "server-0", "server-1", "worker-0", "worker-1")
    ]
    for member in stage.members:
        assert member.env["DMLC_NODE_HOST"] == member.env["DMLC_PS_ROOT_URI"] == "127.0.0.1"
        assert (member.env["DMLC_NUM_SERVER"], member.env["DMLC_NUM_WORKER"]) == ("2", "2")
        assert member.env["DMLC_ROLE"] == member.role
    assert [member.serves for member in stage.members] == [True, True, True, False, False]
    assert stage.members[-1].command[-2:] == ["--kvstore", "dist_async"]
    assert dataclasses.asdict(stage.members[1])["command"][1:] == ["-c", "import mxnet"]
