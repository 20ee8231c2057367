"""In which order CUDA counts cards, and what follows from it for leases and for the index map."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from runners.machine import cuda_order
from runners.machine.cuda_order import may_use, orders, visible_now, with_ordinals
from runners.machine.gpus import Gpu, Gpus
from tests.unit.machine_snapshots import gpu, lost_gpu, machine
from tests.unit.visible_values import UUIDS, VALUES

A = Gpu(0, UUIDS["a"], "00000000:41:00.0", "Card X", (9, 0))
B = Gpu(1, UUIDS["b"], "00000000:C1:00.0", "Card X", (9, 0))
C = Gpu(2, UUIDS["c"], "00000000:0A:00.0", "Card Y", (8, 0))
D = Gpu(3, UUIDS["d"], "00000001:01:00.0", "Card Y", (8, 0))
FOUR = Gpus((A, B, C, D))


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """A driver that shows these cards in this order; gives the questions that it was asked."""

    def shows(*cards: Gpu, **more: Any) -> list[str]:
        asked: list[str] = []
        devices = [
            {"ordinal": place, "uuid": card.uuid, "pci_bus_id": card.pci_bus_id}
            for place, card in enumerate(cards)
        ]

        def answer(order: str) -> dict[str, Any]:
            asked.append(order)
            return {"devices": devices, **more}

        monkeypatch.setattr(cuda_order, "ask_driver", answer)
        return asked

    return shows


def test_pci_order_is_by_bus_id_with_its_domain(driver: Callable[..., list[str]]) -> None:
    driver(D, C, B, A)
    both = orders(FOUR.cards)
    assert both.pci_bus_id.ordinals == {C.uuid: 0, A.uuid: 1, B.uuid: 2, D.uuid: 3}
    assert both.pci_bus_id.basis == "inferred"


def test_fastest_first_is_asked_once_where_cards_differ(driver: Callable[..., list[str]]) -> None:
    asked = driver(D, A, C, B)
    for _ in range(2):
        fastest = orders(FOUR.cards).fastest_first
        assert fastest.ordinals == {D.uuid: 0, A.uuid: 1, C.uuid: 2, B.uuid: 3}
        assert fastest.basis == "measured"
    assert asked == ["FASTEST_FIRST"]


def test_cards_that_are_alike_need_no_asking(driver: Callable[..., list[str]]) -> None:
    asked = driver()
    fastest = orders((A, B)).fastest_first
    assert (fastest.ordinals, fastest.basis, asked) == ({A.uuid: 0, B.uuid: 1}, "inferred", [])
    assert orders((C,)).fastest_first.ordinals == {C.uuid: 0}
    assert orders(()).fastest_first.ordinals == {}


def test_cards_are_joined_on_the_bus_id_where_a_driver_tells_no_uuid(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [{"ordinal": 0, "pci_bus_id": C.pci_bus_id}, {"ordinal": 1, "pci_bus_id": A.pci_bus_id}]
    monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: {"devices": devices})
    assert orders((A, C)).fastest_first.ordinals == {C.uuid: 0, A.uuid: 1}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"problem": "CUDA sees no GPU"}, "could not be asked: CUDA sees no GPU"),
        ({"devices": [{"ordinal": 0, "uuid": A.uuid}]}, "NVML can read 2 GPUs and CUDA shows 1"),
        (
            {"devices": [{"ordinal": n, "uuid": u} for n, u in enumerate((A.uuid, "GPU-0", C.uuid))]},
            "NVML can read 2 GPUs and CUDA shows 3",
        ),
        (
            {"devices": [{"ordinal": 0, "uuid": "MIG-1", "parent_uuid": A.uuid}]},
            "in MIG mode CUDA shows one instance only",
        ),
    ],
)
def test_an_order_that_cannot_be_told_says_why(
    answer: dict[str, Any], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: answer)
    fastest = orders((A, C)).fastest_first
    assert (fastest.ordinals, fastest.basis) == (None, "unknown")
    assert reason in fastest.reason


def test_with_a_card_that_cannot_be_read_both_orders_are_asked(driver: Callable[..., list[str]]) -> None:
    asked = driver(B, A)
    both = orders((A, B), complete=False)
    assert asked == ["PCI_BUS_ID", "FASTEST_FIRST"]
    assert both.pci_bus_id.ordinals == {B.uuid: 0, A.uuid: 1}


@pytest.mark.parametrize("order", ["PCI_BUS_ID", "FASTEST_FIRST", None, "pci_bus_id"])
def test_all_permutations_in_both_orders(
    order: str | None, driver: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cards sit in every order on the bus, and CUDA finds another one fastest each time."""
    slots = [card.pci_bus_id for card in sorted(FOUR.cards, key=lambda card: card.pci_bus_id)]
    for arrangement in itertools.permutations(FOUR.cards):
        places = {card.uuid: slot for card, slot in zip(arrangement, slots, strict=True)}
        cards = tuple(Gpu(c.index, c.uuid, places[c.uuid], c.name, c.compute_capability) for c in FOUR.cards)
        fastest = [cards[card.index] for card in reversed(arrangement)]
        monkeypatch.setattr(cuda_order, "answers", cuda_order.Answers())
        driver(*fastest)
        counted = [cards[card.index] for card in arrangement] if order == "PCI_BUS_ID" else fastest
        by_uuid = {card.uuid: card for card in cards}
        environment = {} if order is None else {"CUDA_DEVICE_ORDER": order}
        for value, outcome in VALUES.items():
            given = environment if value is None else {**environment, "CUDA_VISIBLE_DEVICES": value}
            expected = [counted[one] if isinstance(one, int) else by_uuid[UUIDS[one]] for one in outcome]
            assert list(visible_now(Gpus(cards), given).devices) == expected, (value, order)
            if value is not None and "MIG-" not in value:
                assert list(may_use(Gpus(cards), given)) == expected


class TestLeases:
    """Which cards a run may use that is given none in particular."""

    def test_nothing_set_means_all(self) -> None:
        assert may_use(FOUR, {}) == FOUR.cards
        assert may_use(FOUR, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == FOUR.cards

    def test_numbers_are_counted_as_cuda_does(self, driver: Callable[..., list[str]]) -> None:
        driver(D, C, B, A)
        assert may_use(FOUR, {"CUDA_VISIBLE_DEVICES": "0"}) == (D,)
        assert may_use(FOUR, {"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == (C,)

    def test_all_where_the_order_is_not_known(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: {"problem": "no"})
        assert may_use(FOUR, {"CUDA_VISIBLE_DEVICES": "0"}) == FOUR.cards
        assert may_use(FOUR, {"CUDA_VISIBLE_DEVICES": "-1"}) == ()
        # A UUID needs no order.
        assert may_use(FOUR, {"CUDA_VISIBLE_DEVICES": C.uuid}) == (C,)

    def test_all_where_a_mig_instance_is_named(self) -> None:
        assert may_use(FOUR, {"CUDA_VISIBLE_DEVICES": "MIG-1"}) == FOUR.cards

    def test_none_where_there_are_none(self) -> None:
        assert may_use(Gpus(problem="no driver"), {"CUDA_VISIBLE_DEVICES": "0"}) == ()


class TestIndexMap:
    """CUDA's numbers beside NVML's."""

    def test_each_card_has_its_numbers(self) -> None:
        cards = [gpu(0, pci_bus_id="00000000:C1:00.0"), gpu(1, pci_bus_id="00000000:41:00.0")]
        shown = with_ordinals(
            machine(*cards), {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        )
        assert [card["cuda_ordinals"]["PCI_BUS_ID"] for card in shown["gpus"]] == [1, 0]
        assert shown["gpus"][0]["cuda_ordinal"] == 0
        assert shown["gpus"][1]["cuda_ordinal"] == {
            "state": "unsupported",
            "reason": "hidden by CUDA_VISIBLE_DEVICES=1",
        }
        assert "cuda_ordinal" not in cards[0]

    def test_a_card_that_cannot_be_read_has_none(self, driver: Callable[..., list[str]]) -> None:
        one = gpu(0)
        driver(Gpu(0, one["uuid"], one["pci_bus_id"], "", None))
        first, second = with_ordinals(machine(one, lost_gpu(1)), {})["gpus"]
        assert (first["cuda_ordinal"], first["cuda_ordinals"]["FASTEST_FIRST"]) == (0, 0)
        assert second["cuda_ordinal"]["state"] == "error"
        assert second["cuda_ordinals"]["PCI_BUS_ID"]["state"] == "error"

    def test_an_order_that_is_not_known_says_why(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cuda_order, "ask_driver", lambda _order: {"problem": "it hangs"})
        cards = [gpu(0), gpu(1, name="Another")]
        for card in with_ordinals(machine(*cards), {})["gpus"]:
            assert "it hangs" in card["cuda_ordinals"]["FASTEST_FIRST"]["reason"]
            assert "it hangs" in card["cuda_ordinal"]["reason"]
            assert isinstance(card["cuda_ordinals"]["PCI_BUS_ID"], int)


class TestTheProcessThatAsks:
    """`ask_driver` on this machine, whatever that has."""

    def test_without_a_driver_the_reason_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("probes.cuda.driver.LIBRARY", "libcuda-that-is-not-there.so.1")
        answer = cuda_order.ask_driver("PCI_BUS_ID")
        assert "devices" in answer or "driver" in answer["problem"]

    def test_one_that_hangs_is_ended(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cuda_order, "PROBE", "this")
        monkeypatch.setattr(cuda_order, "TIMEOUT_S", 0.0)
        assert "did not answer within" in cuda_order.ask_driver("PCI_BUS_ID")["problem"]

    def test_one_that_dies_says_how(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cuda_order, "PROBE", "no.such.module")
        assert cuda_order.ask_driver("PCI_BUS_ID")["problem"].endswith("ended with status 1")
