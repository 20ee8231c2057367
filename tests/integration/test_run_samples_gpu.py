"""The samples of runs with GPUs, which a double of NVIDIA's driver plays: the run's cards and no others."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.machine import gpus
from runners.plan import launcher
from runners.plan.plan import ROOT, LaunchOptions
from runners.runs import registry
from runners.runs.processes import is_alive
from runners.runs.run import Run
from tests.integration.sampled import companion_of, sampler_of, until_row
from tests.integration.waiting import until
from tests.nvml import NvmlDouble, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

PAUSE = "import signal; signal.pause()"
UNSUPPORTED = {"state": "unsupported", "reason": "NVML_ERROR_NOT_SUPPORTED"}
LOST = {"state": "error", "reason": "NVML_ERROR_GPU_IS_LOST"}


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NvmlDouble]:
    """A machine with four GPUs for the runs that are launched."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with NvmlDouble(tmp_path, gpus=4) as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        gpus.recent_gpus.cache_clear()
        yield made
        for run in registry.runs():
            if not run.ended:
                registry.stop(run, grace_s=0)
    gpus.recent_gpus.cache_clear()


@pytest.fixture
def start(tmp_path: Path, double: NvmlDouble) -> Callable[..., Run]:
    def launch(devices: list[str] | None = None) -> Run:
        (tmp_path / "script.py").write_text(PAUSE)
        plan = launcher.plan_script(
            [str(tmp_path / "script.py")],
            launch=LaunchOptions(python=sys.executable, record=False),
            devices=devices,
        )
        assert plan.problems == []
        return launcher.launch(plan)

    return launch


def card(row: dict[str, Any], index: int) -> dict[str, Any]:
    (found,) = [gpu for gpu in row["gpus"] if gpu["index"] == index]
    return dict(found)


def until_card(run: Run, index: int, wanted: Callable[[dict[str, Any]], Any], after: float = 0) -> Any:
    """Wait for a row, later than `after`, in which a card is as wanted; that of a late sample has none."""
    return until_row(run, lambda row: row["t"] > after and row["gpus"] and wanted(card(row, index)))


def test_the_cards_that_the_run_was_given_are_sampled(start: Callable[..., Run], double: NvmlDouble) -> None:
    double.set(2, "utilization_gpu", 11)
    double.set(2, "power", None)
    run = start(["gpu:2", "gpu:0"])
    first = until_row(run, lambda row: row["gpus"])
    assert [gpu["index"] for gpu in first["gpus"]] == [0, 2]
    assert [gpu["uuid"] for gpu in first["gpus"]] == [double.get(0, "uuid"), double.get(2, "uuid")]
    assert first["nvml"] == "ok"
    two = card(first, 2)
    assert two["utilization_gpu_percent"] == 11
    assert two["power_watts"] == UNSUPPORTED
    assert two["memory_used_bytes"] > 0
    assert "processes" not in two
    double.set(2, "utilization_gpu", 99)
    before = card(first, 0)["utilization_gpu_percent"]
    changed = until_card(run, 2, lambda gpu: gpu["utilization_gpu_percent"] == 99)
    assert card(changed, 0)["utilization_gpu_percent"] == before


def test_of_a_script_that_names_no_devices_all_that_it_can_see_are(
    start: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [gpu["index"] for gpu in until_row(start(), lambda row: row["gpus"])["gpus"]] == [0, 1, 2, 3]
    for run in registry.runs():
        registry.stop(run, grace_s=0)
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    assert [gpu["index"] for gpu in until_row(start(), lambda row: row["gpus"])["gpus"]] == [1, 3]


def test_a_run_without_gpus_leaves_the_driver_alone(start: Callable[..., Run], double: NvmlDouble) -> None:
    run = start(["cpu:0"])
    before = double.all_calls()
    row = until_row(run, lambda row: row["unsampled"] is None)
    assert row["gpus"] == []
    assert row["host"]["memory_used_bytes"] > 0
    command = [sys.executable, "-m", "probes.nvml.sampler", "--once", "--no-gpus"]
    once = subprocess.run(command, capture_output=True, check=True, cwd=ROOT)
    assert json.loads(once.stdout)["nvml"]["state"] == "not-asked"
    assert double.all_calls() == before


def test_a_card_that_is_lost_stays_and_comes_back(start: Callable[..., Run], double: NvmlDouble) -> None:
    run = start(["gpu:1", "gpu:3"])
    until_row(run, lambda row: row["gpus"])
    double.lose(1)
    lost = until_card(run, 1, lambda gpu: gpu["unreadable"])
    assert card(lost, 1)["utilization_gpu_percent"] == LOST
    assert card(lost, 1)["uuid"] == double.get(1, "uuid")
    assert isinstance(card(lost, 3)["utilization_gpu_percent"], int)
    double.heal()
    healed = until_card(run, 1, lambda gpu: not gpu["unreadable"], after=lost["t"])
    assert isinstance(card(healed, 1)["utilization_gpu_percent"], int)


def test_a_call_that_hangs_is_a_gap_and_keeps_nothing_from_ending(
    start: Callable[..., Run], double: NvmlDouble
) -> None:
    run = start(["gpu:0"])
    companion = companion_of(run)
    until_row(run, lambda row: row["gpus"])
    sampler = sampler_of(companion)
    double.hang("nvmlDeviceGetUtilizationRates")
    silent = until_row(run, lambda row: row["unsampled"])
    assert silent["gpus"] == []
    assert silent["run"]["processes"] == 1
    # The next one hangs in its first call of it, and is ended with the run all the same.
    until(lambda: not is_alive(sampler))
    assert sampler_of(companion) != sampler
    run = registry.stop(run)
    assert (run.state, run.reason) == ("stopped", "stopped on request")
    until(lambda: not is_alive(companion))


def test_samples_go_on_when_a_call_returns_again(start: Callable[..., Run], double: NvmlDouble) -> None:
    run = start(["gpu:0"])
    until_row(run, lambda row: row["gpus"])
    double.hang("nvmlDeviceGetPowerUsage")
    silent = until_row(run, lambda row: row["unsampled"])
    double.release()
    again = until_row(run, lambda row: row["t"] > silent["t"] and row["gpus"])
    assert again["unsampled"] is None


def test_a_driver_that_was_reloaded_is_asked_anew(start: Callable[..., Run], double: NvmlDouble) -> None:
    run = start(["gpu:0"])
    until_row(run, lambda row: row["gpus"])
    double.reload_driver("999.1")
    again = until_row(run, lambda row: row["gpus"] and row["driver"] == "999.1")
    assert again["nvml"] == "ok"
