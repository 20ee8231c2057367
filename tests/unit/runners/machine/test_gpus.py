"""The cards that a snapshot of the machine tells."""

from __future__ import annotations

from typing import Any

import pytest

from runners.machine.gpus import Gpu, gpus_of

CARD = {
    "index": 1,
    "uuid": "GPU-b",
    "pci_bus_id": "00000000:02:00.0",
    "name": "Card X",
    "compute_capability": "9.0",
    "unreadable": None,
}
LOST = {"state": "error", "reason": "NVML_ERROR_GPU_IS_LOST"}
UNSUPPORTED = {"state": "unsupported", "reason": "NVML_ERROR_FUNCTION_NOT_FOUND"}


def machine(*gpus: dict[str, Any]) -> dict[str, Any]:
    return {"nvml": "ok", "gpus": list(gpus)}


def test_cards_are_listed_as_nvml_numbers_them() -> None:
    found = gpus_of(machine({**CARD, "index": 0, "uuid": "GPU-a"}, CARD))
    assert found.problem is None
    assert found.cards[1] == Gpu(1, "GPU-b", "00000000:02:00.0", "Card X", (9, 0))
    assert found.cards[1].device == "gpu:1"


@pytest.mark.parametrize(
    "broken",
    [
        {**CARD, "index": 0, "unreadable": LOST},
        {"index": 0, "uuid": LOST, "pci_bus_id": LOST, "name": LOST, "unreadable": None},
    ],
)
def test_a_card_that_cannot_be_read_does_not_hide_the_other(broken: dict[str, Any]) -> None:
    found = gpus_of(machine(broken, CARD))
    assert [card.index for card in found.cards] == [1]
    assert found.problem == "gpu:0 cannot be read: NVML_ERROR_GPU_IS_LOST"


def test_a_capability_that_is_not_told_is_none() -> None:
    (card,) = gpus_of(machine({**CARD, "compute_capability": UNSUPPORTED})).cards
    assert card.compute_capability is None


def test_why_there_are_none() -> None:
    nvml = {"state": "no-driver", "reason": "NVML_ERROR_DRIVER_NOT_LOADED", "text": "no driver is loaded"}
    found = gpus_of({"nvml": nvml, "gpus": []})
    assert (found.cards, found.problem) == ((), "no driver is loaded")
    assert gpus_of(machine()).problem == "NVML reports no GPU"
