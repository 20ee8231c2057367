"""The facts that decided what a finding is, in plain words and a fixed order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from app.diagnosis.registry import BY_CODE
from app.diagnosis.wording.evidence_labels import LABELS, Label
from app.views import units

MOST_NAMED = 12
"""Of names in one fact."""


@dataclasses.dataclass(frozen=True)
class Place:
    """A line of the source with its text."""

    site: str
    code: str
    """'' where the text was not kept."""

    def line(self) -> str:
        """As plain text."""
        return f"{self.site} `{self.code}`" if self.code else self.site


@dataclasses.dataclass(frozen=True)
class Fact:
    """One thing that is known."""

    label: str
    texts: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    def line(self) -> str:
        """As plain text."""
        return (
            f"{self.label}: {', '.join((*self.devices, *self.texts, *(one.line() for one in self.places)))}"
        )


_IN_ALL = "In the whole run"
_NOTHING: tuple[Any, ...] = (None, "", (), [], {}, False)
PlaceOf = Callable[[str | None], Place | None]


def facts_of(code: str, evidence: Mapping[str, Any], place_of: PlaceOf, basis: str) -> list[Fact]:
    """The facts of a finding of this code, in order.

    `basis` is that of the bytes of its transfers, whose ways are told apart; '' where there are none.
    """
    laid_out = bool(basis)
    found: dict[str, Fact] = {}
    for name, told in {**LABELS, **BY_CODE[code].labels}.items():
        value = evidence.get(name)
        if name == "ops" and isinstance(value, int):
            continue  # a number of them is told with the other numbers
        if (value in _NOTHING and told.kind != "ppb") or value is None or (told.alone and laid_out):
            continue
        fact = _fact(told, value, place_of)
        known = found.get(told.text)
        found[told.text] = fact if known is None else _both(known, fact)
    facts = [fact for fact in found.values() if fact.texts or fact.devices or fact.places]
    return facts + ([Fact(_IN_ALL, tuple(sums))] if (sums := list(_sums(evidence, basis))) else [])


_NUMBERS: Mapping[str, Callable[[int], str]] = {
    "ops": lambda number: units.plural(number, "op"),
    "calls": lambda number: units.plural(number, "call"),
    "op_executions_not_seen": lambda number: units.plural(
        number, "execution of an op not seen", "executions of ops not seen"
    ),
    "count": units.times,
    "tensors": lambda number: units.plural(number, "tensor") if number > 1 else "",
    "transfers": lambda number: units.plural(number, "transfer"),
    "bytes": units.size,
    "estimated_copying_ns": lambda number: f"{units.duration(number / 1e9)} of copying (estimated)",
}
"""What a finding comes to, in words."""


def _sums(evidence: Mapping[str, Any], basis: str) -> Iterable[str]:
    known = {name: value for name, value in evidence.items() if isinstance(value, int)}
    for name, words in _NUMBERS.items():
        if known.get(name) and (text := words(known[name])):
            yield f"{text} ({basis})" if name == "bytes" and basis else text
    copied, split = known.get("copy_ns", 0), evidence.get("split")
    if stood := known.get("wait_ns", 0) + copied:
        told = isinstance(split, str) and copied
        copying = f", of it {units.duration(copied / 1e9)} copying ({split})" if told else ""
        yield f"{units.duration(stood / 1e9)} waited{copying}"


def _fact(told: Label, value: Any, place_of: PlaceOf) -> Fact:
    if isinstance(value, Mapping):
        return Fact(told.text, tuple(f"{name}: {_words(told, one)}" for name, one in value.items()))
    values = list(_each(value))
    if told.kind == "device":
        return Fact(told.text, devices=tuple(dict.fromkeys(map(str, values))))
    if told.kind == "line":
        places = (place_of(str(one)) for one in dict.fromkeys(values))
        return Fact(told.text, places=tuple(place for place in places if place))
    texts = list(dict.fromkeys(_words(told, one) for one in values))
    left = len(texts) - MOST_NAMED
    return Fact(told.text, (*texts[:MOST_NAMED], *([f"{left} more"] if left > 0 else ())))


def _both(one: Fact, other: Fact) -> Fact:
    def union(name: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys((*getattr(one, name), *getattr(other, name))))

    return Fact(one.label, union("texts"), union("devices"), union("places"))


def _each(value: Any) -> Iterable[Any]:
    """The values of a fact; of several things that differ in it, all of theirs."""
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _each(item)
    elif value not in (None, ""):
        yield value


def _words(told: Label, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int):
        return str(value)
    if told.kind == "size":
        return units.size(value)
    return units.relative(value) if told.kind == "ppb" else units.count(value)
