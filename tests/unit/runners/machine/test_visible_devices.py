"""The rules of CUDA_VISIBLE_DEVICES, against outcomes written out by hand."""

from __future__ import annotations

import itertools
from typing import ClassVar

import pytest

from runners.machine.gpus import Gpu
from runners.machine.visible_devices import MigInstance, visible
from tests.unit.visible_values import DOCUMENTED, OPEN, UNSETTLED, UUIDS, VALUES, A, B, C, Outcome

CARDS = [
    Gpu(index, uuid, f"00000000:{index + 1:02X}:00.0", f"Card {letter}", (9, 0))
    for index, (letter, uuid) in enumerate(UUIDS.items())
]
BY_UUID = {card.uuid: card for card in CARDS}
FIRST, SECOND = MigInstance("MIG-11aa", 1, 0), MigInstance("MIG-22bb", 2, 0)


def expected(outcome: Outcome, counted: list[Gpu]) -> list[Gpu]:
    return [counted[one] if isinstance(one, int) else BY_UUID[UUIDS[one]] for one in outcome]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:40])
def test_every_order_of_the_cards_gives_the_outcome_that_is_written_down(value: str | None) -> None:
    for order in itertools.permutations(CARDS):
        ordinals = {card.uuid: place for place, card in enumerate(order)}
        seen = visible(CARDS, value, ordinals)
        assert list(seen.devices) == expected(VALUES[value], list(order))
        assert [entry.text for entry in seen.entries] == (value.split(",") if value else [])
        taken = [entry for entry in seen.entries if entry.ordinal is not None]
        if value:
            assert [entry.ordinal for entry in taken] == list(range(len(seen.devices)))
            assert [entry.card for entry in taken] == list(seen.devices)
        assert seen.note and all(entry.verdict for entry in seen.entries)


@pytest.mark.parametrize("value", OPEN | UNSETTLED, ids=lambda value: repr(value)[:40])
def test_what_the_guides_leave_open_is_said_to_be(value: str) -> None:
    seen = visible(CARDS, value, {card.uuid: card.index for card in CARDS})
    assert any(not entry.documented for entry in seen.entries)
    assert all("open" in entry.verdict for entry in seen.entries if not entry.documented)


@pytest.mark.parametrize(
    "value", [value for value in DOCUMENTED if value], ids=lambda value: repr(value)[:40]
)
def test_what_the_guides_say_is_not_doubted(value: str) -> None:
    seen = visible(CARDS, value, {card.uuid: card.index for card in CARDS})
    assert all(entry.documented for entry in seen.entries)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:40])
def test_without_cudas_order_as_many_devices_are_seen_but_not_which(value: str | None) -> None:
    seen = visible(CARDS, value, None)
    assert len(seen.devices) == len(VALUES[value])
    for card, one in zip(seen.devices, VALUES[value], strict=True):
        assert card == (None if isinstance(one, int) else BY_UUID[UUIDS[one]])


def test_each_entry_says_what_becomes_of_it() -> None:
    backwards = {card.uuid: 3 - card.index for card in CARDS}
    told = [entry.verdict for entry in visible(CARDS, "0,2,-1,1", backwards).entries]
    assert told == [
        "CUDA's 0 is GPU 3",
        "CUDA's 2 is GPU 1",
        "ends the list: -1 is no GPU's number",
        "not looked at: the list ended at '-1'",
    ]
    (number,) = visible(CARDS, "7", backwards).entries
    assert number.verdict == "ends the list: CUDA counts 0 to 3"
    ambiguous, late = visible(CARDS, "GPU-9,GPU-99", backwards).entries
    assert "UUIDs of GPU 0 and GPU 1 begin so" in ambiguous.verdict
    assert late.ordinal is None


def test_a_machine_without_a_gpu_shows_none() -> None:
    for value in VALUES:
        assert visible([], value, {}).devices == ()
    assert visible([], None, {}).note == "there is no GPU"


class TestMig:
    """Of MIG instances CUDA shows one, and no other GPU beside it."""

    ordinals: ClassVar = {card.uuid: card.index for card in CARDS}

    @pytest.mark.parametrize(
        "value",
        [
            "MIG-11aa",
            "MIG-1",
            f"MIG-{A}/1/0",
            f"MIG-{A[:12]}/1/0",
            "MIG-11aa,MIG-22bb",
            "MIG-11aa,MIG-11aa",
            A,
            "0",
        ],
    )
    def test_one_instance_alone(self, value: str) -> None:
        seen = visible(CARDS, value, self.ordinals, {A: [FIRST, SECOND]})
        assert (seen.mig, list(seen.devices)) == ("MIG-11aa", [CARDS[0]])
        assert [entry.ordinal for entry in seen.entries if entry.mig] == [0]

    def test_the_instance_that_is_named_and_not_the_first(self) -> None:
        for value in ("MIG-22bb", f"MIG-{A}/2/0", f"MIG-22bb,{B}"):
            assert visible(CARDS, value, self.ordinals, {A: [FIRST, SECOND]}).mig == "MIG-22bb"

    def test_unset_shows_one_instance_and_hides_the_other_cards(self) -> None:
        seen = visible(CARDS, None, self.ordinals, {C: [FIRST]})
        assert (seen.mig, list(seen.devices)) == ("MIG-11aa", [CARDS[2]])
        assert "one" in seen.note

    def test_cards_that_are_not_cut_are_as_ever(self) -> None:
        seen = visible(CARDS, f"{B},{C}", self.ordinals, {A: [FIRST]})
        assert (seen.mig, list(seen.devices)) == (None, [CARDS[1], CARDS[2]])

    def test_a_card_in_mig_mode_without_an_instance_gives_nothing(self) -> None:
        seen = visible(CARDS, "0,1", self.ordinals, {A: []})
        assert list(seen.devices) == [CARDS[1]]
        assert [entry.ordinal for entry in seen.entries] == [None, 0]
        assert "no instance" in seen.entries[0].verdict

    def test_an_instance_that_is_not_there_ends_the_list(self) -> None:
        for value in ("MIG-33", f"MIG-{A}/7/0", f"MIG-{B}/1/0", "MIG-", "MIG-GPU-"):
            assert visible(CARDS, value, self.ordinals, {A: [FIRST, SECOND]}).devices == ()


def test_many_cards_are_listed_with_commas() -> None:
    cards = [Gpu(index, f"GPU-{index}", f"0000:0{index}:00.0", "A100", (8, 0)) for index in range(3)]
    (entry,) = visible(cards, "GPU-", None).entries
    assert "the UUIDs of GPU 0, GPU 1 and GPU 2 begin so" in entry.verdict
