"""CUDA's order and CUDA_VISIBLE_DEVICES: our reading of the rules against a double of the driver's library.

The double (tests/nvml) reads the variables by rules of its own, written in C by somebody else.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runners.machine import cuda_order
from runners.machine.cuda_order import orders, visible
from runners.machine.gpus import Gpu
from runners.machine.visible_devices import MigInstance
from tests.nvml import NvmlDouble, why_not
from tests.unit.visible_values import DOCUMENTED, OPEN, UUIDS

pytestmark = pytest.mark.skipif(why_not() is not None, reason=why_not() or "")

ROOT = Path(__file__).resolve().parents[2]
ASKER = Path(__file__).with_name("scripts") / "cuda_orders.py"
ORDERS = ("PCI_BUS_ID", "FASTEST_FIRST")


@pytest.fixture
def double(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NvmlDouble]:
    """Four cards of different kinds, whose library this process's children find."""
    monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with NvmlDouble(tmp_path, gpus=4) as made:
        for index, uuid in enumerate(UUIDS.values()):
            made.set(index, "uuid", uuid)
            made.set(index, "name", f"Card {index}")
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        yield made


def arrange(double: NvmlDouble, buses: tuple[int, ...], speeds: tuple[int, ...]) -> list[Gpu]:
    """Put the cards on these buses, make them so fast, and return them as NVML tells them."""
    for index, (bus, speed) in enumerate(zip(buses, speeds, strict=True)):
        double.set(index, "pci_bus", bus)
        double.set(index, "cuda_speed", speed)
    return [
        Gpu(index, uuid, f"00000000:{bus:02X}:00.0", f"Card {index}", (8, 0))
        for index, (uuid, bus) in enumerate(zip(UUIDS.values(), buses, strict=True))
    ]


def shown(environments: list[dict[str, Any]]) -> list[list[str]]:
    """The UUIDs that CUDA shows in each environment."""
    done = subprocess.run(
        [sys.executable, str(ASKER)],
        input=json.dumps(environments),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    answers: list[list[str]] = json.loads(done.stdout)
    return answers


def test_every_permutation_order_and_value_is_read_as_the_driver_reads_it(
    double: NvmlDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cards sit on the bus in every order, and are fast in every order."""
    values = list(DOCUMENTED | OPEN)
    on_the_bus = list(itertools.permutations((0x0A, 0x41, 0x81, 0xC1)))
    by_speed = list(itertools.permutations((10, 40, 30, 20)))
    for buses, speeds in zip(on_the_bus, reversed(by_speed), strict=True):
        cards = arrange(double, buses, speeds)
        monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
        both = orders(cards)
        assert (both.pci_bus_id.basis, both.fastest_first.basis) == ("inferred", "measured")
        asked = [(name, value) for name in ORDERS for value in values]
        answers = shown([{"CUDA_DEVICE_ORDER": n, "CUDA_VISIBLE_DEVICES": v} for n, v in asked])
        for (name, value), uuids in zip(asked, answers, strict=True):
            devices = visible(cards, value, both.under(name).ordinals).devices
            assert [card.uuid for card in devices if card is not None] == uuids, (buses, name, value)


def test_another_order_than_the_two_is_the_default(double: NvmlDouble) -> None:
    cards = arrange(double, (1, 2, 3, 4), (10, 40, 30, 20))
    names = [None, "", "pci_bus_id", "SLOWEST_FIRST"]
    for uuids in shown([{"CUDA_DEVICE_ORDER": name} for name in names]):
        assert uuids == [cards[index].uuid for index in (1, 2, 3, 0)]


def test_one_mig_instance_is_seen(double: NvmlDouble) -> None:
    cards = arrange(double, (1, 2, 3, 4), (4, 3, 2, 1))
    double.mig(
        1,
        [
            {"uuid": "MIG-11aa0000-0000-0000-0000-000000000000"},
            {"uuid": "MIG-22bb0000-0000-0000-0000-000000000000"},
        ],
    )
    instances = {
        cards[1].uuid: [
            MigInstance("MIG-11aa0000-0000-0000-0000-000000000000", 1, 0),
            MigInstance("MIG-22bb0000-0000-0000-0000-000000000000", 2, 0),
        ]
    }
    ordinals = {card.uuid: card.index for card in cards}
    values = [
        None,
        "MIG-22bb0000-0000-0000-0000-000000000000",
        f"MIG-{cards[1].uuid}/2/0",
        "MIG-22bb,MIG-11aa",
        "0,1",
        "1,0",
        f"{cards[2].uuid},MIG-22bb",
        "2,3",
        "MIG-33cc",
        f"MIG-{cards[0].uuid}/1/0",
        f"MIG-{cards[1].uuid}/7/0",
    ]
    for value, uuids in zip(
        values, shown([{"CUDA_VISIBLE_DEVICES": value} for value in values]), strict=True
    ):
        seen = visible(cards, value, ordinals, instances)
        known = [seen.mig] if seen.mig else [card.uuid for card in seen.devices if card is not None]
        assert known == uuids, value
    assert (
        orders(cards).fastest_first.reason == "in MIG mode CUDA shows one instance only, not the cards' order"
    )


def test_a_driver_that_fails_hangs_or_is_missing_leaves_the_order_unknown(
    double: NvmlDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = arrange(double, (1, 2, 3, 4), (4, 3, 2, 1))

    def reason() -> str:
        monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
        fastest = orders(cards).fastest_first
        assert fastest.ordinals is None
        return fastest.reason

    double.fail("cuInit", 803)
    assert "differ in version" in reason()
    double.heal("cuInit")
    double.hang("cuInit", deaf=True)
    monkeypatch.setattr(cuda_order, "TIMEOUT_S", 0.5)
    assert "did not answer within" in reason()
    double.release()
    monkeypatch.setattr(cuda_order, "TIMEOUT_S", 30.0)
    double.remove(3)
    assert reason() == "NVML can read 4 GPUs and CUDA shows 3, which are not the same"
    double.remove(3, back=True)
    if not Path("/dev/nvidiactl").exists():
        monkeypatch.setenv("LD_LIBRARY_PATH", str(double.folder))
        assert "there is no NVIDIA driver" in reason()
