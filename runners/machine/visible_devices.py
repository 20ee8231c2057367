"""What CUDA makes of a CUDA_VISIBLE_DEVICES value: each entry explained, and the devices in their order.

NVIDIA documents (CUDA Programming Guide, "CUDA Environment Variables"; MIG User Guide, "CUDA Device
Enumeration"): unset shows all, empty none; numbers count in CUDA's order; a UUID may be cut short as long as
one card alone begins so; the first invalid entry ends the list; of MIG instances one is seen, and nothing
beside it. What the guides leave open is told as such: there it follows what PyTorch's tests say of drivers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence

from runners.machine.gpus import Gpu

_SPACE = " \t\n\v\f\r"
_NUMBER = re.compile(r"[ \t\n\v\f\r]*(?P<digits>[+-]?[0-9]+)")
_PLAIN = re.compile(r"[0-9]+")
_HUGE = 10**20
_OLD_MIG = re.compile(r"MIG-(?P<card>GPU-[^/]+)/(?P<gpu>[0-9]+)/(?P<compute>[0-9]+)")
_OPEN = " (NVIDIA's guides leave this open)"


@dataclasses.dataclass(frozen=True)
class MigInstance:
    """A slice of a card in MIG mode."""

    uuid: str
    gpu_instance: int
    compute_instance: int


@dataclasses.dataclass(frozen=True)
class Entry:
    """One entry of the list, as it was written between the commas."""

    text: str
    verdict: str
    """What becomes of it and why, for people."""
    ordinal: int | None = None
    """The number by which CUDA, and so a framework, counts the device; None where the entry gives none."""
    card: Gpu | None = None
    """The card; None where the entry gives none, and where CUDA's order is not known."""
    mig: str | None = None
    """The UUID of the MIG instance, where it is one."""
    documented: bool = True
    """Whether NVIDIA's guides say so; else it is what others saw drivers do."""


@dataclasses.dataclass(frozen=True)
class Visible:
    """What a process sees."""

    entries: tuple[Entry, ...]
    devices: tuple[Gpu | None, ...]
    """The cards by CUDA's number; None for one that is there, while CUDA's order is not known."""
    note: str
    """What the whole value comes to, in a sentence."""
    mig: str | None = None
    """The UUID of the one MIG instance, where that is what is seen; `devices` then is its card."""


def visible(
    cards: Sequence[Gpu],
    value: str | None,
    ordinals: Mapping[str, int] | None,
    mig: Mapping[str, Sequence[MigInstance]] | None = None,
) -> Visible:
    """Return what CUDA shows of `cards` with CUDA_VISIBLE_DEVICES set to `value`; None: it is not set.

    `ordinals` is CUDA's own count by UUID, with the variable unset; None where that is not known. `mig` holds
    the instances of each card in MIG mode, by the card's UUID.
    """
    return _Reading(cards, ordinals, mig or {}).read(value)


class _Reading:
    def __init__(
        self,
        cards: Sequence[Gpu],
        ordinals: Mapping[str, int] | None,
        mig: Mapping[str, Sequence[MigInstance]],
    ) -> None:
        self.cards = list(cards)
        known = ordinals is not None and all(card.uuid in ordinals for card in cards)
        self.counted: list[Gpu | None] = [None] * len(cards)
        if ordinals is not None and known:
            self.counted = [*sorted(cards, key=lambda card: ordinals[card.uuid])]
        self.mig = mig

    def read(self, value: str | None) -> Visible:
        if value is None:
            every = [Entry("", "", ordinal, card) for ordinal, card in enumerate(self.counted)]
            seen = _taken(self._beside_mig(every))
            note = "CUDA_VISIBLE_DEVICES is not set, so every GPU is visible, in CUDA's own order"
            if any(entry.mig for entry in seen):
                note = (
                    "CUDA_VISIBLE_DEVICES is not set; of MIG instances CUDA shows one, and no GPU beside it"
                )
            return _result((), seen, note if self.cards else "there is no GPU")
        if not value:
            return Visible((), (), "CUDA_VISIBLE_DEVICES is set and empty, so no GPU is visible")
        entries, names = self._list(value)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            why = f"{twice} is named twice, and then CUDA shows no device at all{_OPEN}"
            told = [_said(entry, why) if entry.ordinal is not None else entry for entry in entries]
            return Visible(tuple(told), (), why)
        entries = self._beside_mig(entries)
        return _result(entries, _taken(entries), _sentence(entries))

    def _list(self, value: str) -> tuple[list[Entry], list[str]]:
        """Each entry by itself, and what the taken ones name; behind the list's end nothing is looked at."""
        entries: list[Entry] = []
        names: list[str] = []
        ended: str | None = None
        first = _kind(value)
        for text in value.split(","):
            if ended is not None:
                entries.append(Entry(text, ended))
                continue
            kind = _kind(text)
            entry = self._number(text, len(names)) if kind == "number" else self._uuid(text, len(names))
            if kind != first and (kind != "number" or entry.ordinal is not None):
                told = f"ends the list: a {kind} in a list that begins with a {first}{_OPEN}"
                entry = Entry(text, told, documented=False)
            entries.append(entry)
            if entry.ordinal is None:
                ended = f"not looked at: the list ended at {_quoted(text)}"
            elif entry.mig is not None:
                ended = "not looked at: CUDA shows one MIG instance only"
                names.append(entry.mig)
            elif entry.card is not None:
                names.append(_name(entry.card))
            else:
                names.append(f"CUDA's number {_index(text)}")
        return entries, names

    def _number(self, text: str, ordinal: int) -> Entry:
        index = _index(text)
        if index is None:
            return Entry(text, _no_number(text))
        if index < 0:
            return Entry(text, f"ends the list: {index} is no GPU's number")
        if index >= len(self.cards):
            there = f"0 to {len(self.cards) - 1}" if len(self.cards) > 1 else "0 only"
            why = f"ends the list: CUDA counts {there}" if self.cards else "ends the list: there is no GPU"
            # Beyond 32 bits a driver may wrap it round.
            return Entry(text, why + ("" if index < 2**31 else _OPEN), documented=index < 2**31)
        odd = not _PLAIN.fullmatch(text.strip(_SPACE))
        card = self.counted[index]
        which = f"is {_name(card)}" if card is not None else "is not known: CUDA's order here is not"
        told = f"{f'read as {index}: ' if odd else ''}CUDA's {index} {which}"
        return Entry(text, told + (_OPEN if odd else ""), ordinal, card, documented=not odd)

    def _uuid(self, text: str, ordinal: int) -> Entry:
        name = text.strip(_SPACE)
        entry = (
            self._slice(text, name, ordinal) if name.startswith("MIG-") else self._card(text, name, ordinal)
        )
        if name == text or entry.ordinal is None:
            return entry
        told = f"{entry.verdict}; space beside a UUID{_OPEN}: leave it out"
        return dataclasses.replace(entry, verdict=told, documented=False)

    def _card(self, text: str, name: str, ordinal: int) -> Entry:
        matches = [card for card in self.cards if card.uuid.lower().startswith(name.lower())]
        if not matches:
            return Entry(text, "ends the list: no GPU here has a UUID that begins so")
        if len(matches) > 1:
            several = listed([_name(card) for card in matches])
            return Entry(text, f"ends the list: the UUIDs of {several} begin so, and CUDA does not choose")
        (card,) = matches
        told = (
            f"{'the UUID' if len(name) == len(card.uuid) else 'the beginning of the UUID'} of {_name(card)}"
        )
        if card.uuid.startswith(name):
            return Entry(text, told, ordinal, card)
        told = f"{told} but for upper and lower case{_OPEN}: write it as nvidia-smi does"
        return Entry(text, told, ordinal, card, documented=False)

    def _slice(self, text: str, name: str, ordinal: int) -> Entry:
        """A MIG instance by its UUID, or as drivers before R470 name it."""
        old = _OLD_MIG.fullmatch(name)
        found: list[tuple[Gpu, MigInstance]] = []
        for card in self.cards:
            for instance in self.mig.get(card.uuid, ()):
                numbers = (instance.gpu_instance, instance.compute_instance)
                if old is None:
                    matches = instance.uuid.startswith(name)
                else:
                    matches = card.uuid.startswith(old["card"])
                    matches = matches and numbers == (int(old["gpu"]), int(old["compute"]))
                if matches:
                    found.append((card, instance))
        if len(found) != 1:
            why = "several MIG instances' UUIDs begin so" if found else "there is no such MIG instance here"
            return Entry(text, f"ends the list: {why}")
        card, instance = found[0]
        told = f"a MIG instance of {_name(card)}"
        return Entry(text, told, ordinal, card, instance.uuid)

    def _beside_mig(self, entries: list[Entry]) -> list[Entry]:
        """One MIG instance alone, where the list has one or has a card that is cut into such."""
        cut = [
            self._first_of(entry, entry.card)
            if entry.card is not None and entry.mig is None and entry.card.uuid in self.mig
            else entry
            for entry in entries
        ]
        only = next((entry for entry in cut if entry.mig is not None), None)
        count = 0
        result = []
        for entry in cut:
            if entry.ordinal is None:
                result.append(entry)
            elif only is not None and entry is not only:
                hidden = "hidden: CUDA shows one MIG instance, and no other GPU beside it"
                result.append(Entry(entry.text, hidden))
            else:
                result.append(dataclasses.replace(entry, ordinal=count))
                count += 1
        return result

    def _first_of(self, entry: Entry, card: Gpu) -> Entry:
        instances = self.mig[card.uuid]
        if not instances:
            told = f"{_name(card)} is in MIG mode and has no instance, so CUDA has nothing of it to show"
            return Entry(entry.text, told)
        told = f"{_name(card)} is in MIG mode: CUDA shows the first of its instances"
        return dataclasses.replace(entry, verdict=told, mig=instances[0].uuid)


def listed(names: Sequence[str]) -> str:
    """`GPU 0, GPU 1 and GPU 7`."""
    return " and ".join([part for part in (", ".join(names[:-1]), *names[-1:]) if part])


def _name(card: Gpu) -> str:
    return f"GPU {card.index}"


def _taken(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.ordinal is not None]


def _result(entries: Sequence[Entry], taken: Sequence[Entry], note: str) -> Visible:
    slices = [entry.mig for entry in taken if entry.mig]
    devices = tuple(entry.card for entry in taken)
    return Visible(tuple(entries), devices, note, slices[0] if slices else None)


def _said(entry: Entry, why: str) -> Entry:
    return Entry(entry.text, why, documented=False)


def _index(text: str) -> int | None:
    """The number that an entry begins with, as C reads it; None where it begins with none."""
    match = _NUMBER.match(text)
    if match is None:
        return None
    digits = match["digits"]
    sign = -1 if digits[0] == "-" else 1
    digits = digits.lstrip("+-0")
    # Python refuses to read numbers of thousands of digits.
    return sign * (int(digits or "0") if len(digits) <= 20 else _HUGE)


def _quoted(text: str) -> str:
    bare = text.strip(_SPACE)
    return f"{bare!r}" if bare else "an empty entry"


def _no_number(text: str) -> str:
    if not text.strip(_SPACE):
        return "ends the list: it is empty"
    return "ends the list: it is no number and no UUID (those begin with GPU- or MIG-)"


def _kind(text: str) -> str:
    """What an entry, or the first one of a list, is: the first one's kind holds for all."""
    bare = text.lstrip(_SPACE)
    return "MIG UUID" if bare.startswith("MIG-") else "UUID" if bare.startswith("GPU-") else "number"


def _sentence(entries: Sequence[Entry]) -> str:
    taken = _taken(entries)
    number = len(taken)
    if not taken:
        return "no GPU is visible"
    if any(entry.mig for entry in taken):
        return "1 MIG instance is visible, and no GPU beside it"
    return "1 GPU is visible" if number == 1 else f"{number} GPUs are visible"
