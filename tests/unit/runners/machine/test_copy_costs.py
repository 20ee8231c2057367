"""What copies cost: kept, found again, and turned into times."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from runners.machine import copy_costs
from runners.machine.copy_costs import Copy, Costs, Pair, estimate, from_json, load, save
from runners.machine.copy_measuring import refusals
from tests.unit.machine_snapshots import UNSUPPORTED, gpu, lost_gpu, machine

A, B = "GPU-aaaa", "GPU-bbbb"
COSTS = Costs(
    1000.0,
    "570.86.15",
    "ws1",
    64 << 20,
    (
        Pair("host", A, 10e9, 10e-6, "pinned"),
        Pair("host", A, 5e9, 20e-6, "pageable"),
        Pair(A, "host", 4e9, 30e-6, "pageable"),
        Pair(A, B, 50e9, 5e-6, None, True),
        Pair(A, A, 1e12, 2e-6),
    ),
    ({"src": B, "dst": None, "reason": "only 12 MiB free"},),
)
MAP: dict[str, dict[str, Any]] = {
    "cpu:0": {"stand_in": False},
    "cpu:1": {"stand_in": True},
    "gpu:0": {"stand_in": False, "uuid": A},
    "gpu:1": {"uuid": B},
    "gpu:2": {"stand_in": True, "parent_uuid": A},
    "gpu:3": {"uuid": A, "also": [B]},
    "gpu:4": {},
    "worker:1/gpu:0": {"uuid": A},
}


@pytest.fixture
def kept(hopscope_home: Path) -> Path:
    return hopscope_home / "machine" / "copy_costs.json"


def test_what_is_kept_is_found_again(kept: Path) -> None:
    assert load() is None
    save(COSTS)
    assert load() == COSTS
    assert load([A, B], "570.86.15") == COSTS
    assert load([A], "580.1") is None
    assert load(["GPU-cccc"]) is None
    assert from_json(json.loads(json.dumps(COSTS.as_json()))) == COSTS


def test_a_newer_measurement_takes_the_place_of_one_of_the_same_machine_only(kept: Path) -> None:
    newer = dataclasses.replace(COSTS, made=2000.0)
    upgraded = dataclasses.replace(COSTS, made=3000.0, driver="580.1")
    for costs in (COSTS, newer, upgraded):
        save(costs)
    assert [one["made"] for one in json.loads(kept.read_text())["machines"]] == [3000.0, 2000.0]
    assert (load([A], "570.86.15"), load([A])) == (newer, upgraded)


def test_machines_that_share_a_home_do_not_drive_each_other_out(kept: Path) -> None:
    for number in range(30):
        save(
            dataclasses.replace(
                COSTS, made=float(number), pairs=(Pair(f"GPU-{number}", "host", 1.0, 0.0, "pageable"),)
            )
        )
    assert len(json.loads(kept.read_text())["machines"]) == 16
    assert load(["GPU-29"]) is not None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"machines": 4}', '{"machines": [{"made": 1}, 5, null]}', '{"machines": {}}'],
)
def test_a_damaged_file_is_none_and_is_written_anew(text: str, kept: Path) -> None:
    kept.parent.mkdir(parents=True)
    kept.write_text(text)
    assert load() is None
    save(COSTS)
    assert load() == COSTS


@pytest.mark.parametrize(
    "changed", [{"bytes_per_second": 0}, {"bytes_per_second": "x"}, {"latency_seconds": -1}, {"src": None}]
)
def test_a_cost_that_cannot_be_is_not_believed(changed: dict[str, Any]) -> None:
    row = {**COSTS.as_json()["pairs"][0], **changed}
    if changed == {"src": None}:
        row.pop("src")
    assert from_json(COSTS.as_json() | {"pairs": [row]}) is None


def test_a_time_is_the_latency_and_the_bytes_at_the_bandwidth() -> None:
    assert estimate(COSTS, MAP, Copy("cpu:0", "gpu:0", 5_000_000)) == pytest.approx(20e-6 + 1e-3)
    assert estimate(COSTS, MAP, Copy("gpu:0", "cpu:0", 4_000_000, 10)) == pytest.approx(10 * (30e-6 + 1e-3))
    assert estimate(COSTS, MAP, Copy("gpu:0", "gpu:1", 0)) == pytest.approx(5e-6)
    assert estimate(COSTS, MAP, Copy("gpu:0", "gpu:0", 10**9)) == pytest.approx(2e-6 + 1e-3)
    assert estimate(COSTS, MAP, Copy("worker:1/gpu:0", "gpu:1", 50_000)) == pytest.approx(6e-6)
    assert estimate(COSTS, MAP, Copy("worker:1/cpu:0", "gpu:0", 0)) == pytest.approx(20e-6)
    # A kernel's argument in host memory, whatever the device is called.
    assert estimate(COSTS, MAP, Copy("gpu:0", "gpu:0", 4_000_000, 1, dst_memory="host")) == pytest.approx(
        1.03e-3
    )


@pytest.mark.parametrize(
    ("src", "dst"),
    [
        ("cpu:0", "cpu:1"),
        ("cpu:1", "gpu:0"),
        ("gpu:2", "gpu:0"),
        ("gpu:0", "gpu:3"),
        ("gpu:0", "gpu:4"),
        ("gpu:0", "gpu:9"),
        ("gpu:1", "gpu:0"),
        ("cpu:0", "cpu:0"),
        ("", "gpu:0"),
    ],
    ids=lambda device: device or "none",
)
def test_no_time_where_an_end_is_no_measured_card(src: str, dst: str) -> None:
    assert estimate(COSTS, MAP, Copy(src, dst, 1000)) is None


def test_no_time_where_something_is_not_known() -> None:
    assert estimate(None, MAP, Copy("cpu:0", "gpu:0", 1000)) is None
    assert estimate(COSTS, MAP, Copy("cpu:0", "gpu:0", None)) is None
    assert estimate(COSTS, MAP, Copy("cpu:0", "gpu:0", 1000, None)) is None


def test_cards_that_are_left_alone_say_why() -> None:
    cards = [
        gpu(0),
        gpu(1, memory_free_bytes=5 << 20),
        gpu(2, compute_mode="exclusive process"),
        gpu(3, mig_mode="on"),
        gpu(4, memory_free_bytes=UNSUPPORTED, compute_mode=UNSUPPORTED),
        lost_gpu(5),
    ]
    refused = refusals(machine(*cards))
    assert [refused.get(card["uuid"]) for card in cards] == [
        None,
        "gpu:1 has only 5 MiB free",
        "gpu:2 is in exclusive process mode",
        "gpu:3 is in MIG mode",
        None,
        "gpu:5 cannot be read: NVML_ERROR_GPU_IS_LOST",
    ]


def test_the_file_is_in_the_machines_folder(kept: Path) -> None:
    assert copy_costs.costs_file() == kept


def test_costs_nested_without_end_are_none(kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text('{"machines":' * 100_000)
    assert load() is None
