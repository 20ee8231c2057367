"""From `--devices` to the cards that a program really gets, on a double of NVIDIA's driver."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.machine import cuda_order, gpus
from runners.machine.gpus import known_gpus
from runners.plan import launcher
from runners.plan.plan import LaunchOptions
from runners.runs import registry
from runners.runs.run import Run
from tests.nvml import NvmlDouble

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("scripts") / "cuda_program.py"
UUIDS = [f"GPU-{index}{index}{index}{index}0000-1111-2222-3333-444455556666" for index in range(4)]


@pytest.fixture
def machine(
    nvml_makeable: None, tmp_path: Path, hopscope_home: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NvmlDouble]:
    """Four cards: CUDA counts them by speed from the last to the first unless told otherwise."""
    monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
    gpus.recent_gpus.cache_clear()
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        monkeypatch.delenv(name, raising=False)
    with NvmlDouble(tmp_path, gpus=4) as double:
        for index, uuid in enumerate(UUIDS):
            double.set(index, "uuid", uuid)
            double.set(index, "name", f"Card {index}")
            double.set(index, "cuda_speed", index)
        for name, value in {**double.environment(), "PYTHONPATH": str(ROOT)}.items():
            monkeypatch.setenv(name, value)
        yield double
    gpus.recent_gpus.cache_clear()


def ran(devices: list[str] | None) -> tuple[Run, dict[str, Any]]:
    """Launch the program and return its run and what it told."""
    plan = launcher.plan_script(
        [str(PROGRAM)], devices=devices, launch=LaunchOptions(python=sys.executable, record=False)
    )
    assert plan.problems == []
    run = registry.wait(launcher.launch(plan), timeout=60)
    assert run.exit_code == 0, run.log.read_text()
    told: dict[str, Any] = json.loads(run.log.read_text().strip().splitlines()[-1])
    return run, told


def test_the_cards_that_were_named_in_the_order_in_which_they_were(machine: NvmlDouble) -> None:
    run, told = ran(["gpu:2", "gpu:0", "gpu:3"])
    assert [facts["uuid"] for facts in told["started"]] == [UUIDS[2], UUIDS[0], UUIDS[3]]
    assert told["environment"] == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": f"{UUIDS[2]},{UUIDS[0]},{UUIDS[3]}",
    }
    assert [run.spec["device_map"][f"gpu:{place}"]["nvml_index"] for place in range(3)] == [2, 0, 3]


def test_the_driver_is_asked_and_never_started(machine: NvmlDouble) -> None:
    _, told = ran(["gpu:1"])
    # As long as the program has not started CUDA, the launcher's list is all that there is.
    for early in (told["before"], told["loaded"]):
        assert (early["source"], early["uuid"]) == ("CUDA_VISIBLE_DEVICES", UUIDS[1])
    (facts,) = told["started"]
    assert facts["source"] == "the CUDA driver"
    bus = known_gpus().cards[1].pci_bus_id
    assert (facts["uuid"], facts["pci_bus_id"], facts["cuda_ordinal"]) == (UUIDS[1], bus, 0)


def test_a_program_that_names_its_cards_itself_is_caught(
    machine: NvmlDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HIDE_BY_ITSELF", "3")
    _, told = ran(["gpu:0"])
    # The launcher's order still holds: without it CUDA would count the last card as 0.
    assert [facts["uuid"] for facts in told["started"]] == [UUIDS[3]]
    assert told["environment"]["CUDA_VISIBLE_DEVICES"] == "3"


def test_without_devices_the_environment_is_left_alone_and_its_cards_are_leased(
    machine: NvmlDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    run, told = ran(None)
    assert [facts["uuid"] for facts in told["started"]] == [UUIDS[3], UUIDS[2]]
    plan = launcher.plan_script([str(PROGRAM)], launch=LaunchOptions(python=sys.executable, record=False))
    assert [card.uuid for card in plan.cards] == [UUIDS[3], UUIDS[2]]
    kept = run.spec["machine"]
    assert kept["environment"] == {"CUDA_DEVICE_ORDER": None, "CUDA_VISIBLE_DEVICES": "0,1"}
    assert [card["uuid"] for card in kept["gpus"]] == UUIDS
    assert kept["cuda_orders"]["FASTEST_FIRST"] == {uuid: 3 - index for index, uuid in enumerate(UUIDS)}
    assert kept["cuda_orders"]["PCI_BUS_ID"] == {uuid: index for index, uuid in enumerate(UUIDS)}
