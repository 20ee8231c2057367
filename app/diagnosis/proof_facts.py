"""The facts that decided what a finding is, in plain words and a fixed order."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

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


@dataclasses.dataclass(frozen=True)
class _Told:
    """How a fact is told: its label, and what its values are."""

    label: str
    kind: str = "text"
    """Text, device, line, size, time or ppb."""
    alone: bool = False
    """Only where no way of a tensor has told it already."""


_TOLD: dict[str, _Told] = {
    # Of functions and ops that are no transfer.
    "function": _Told("Function"),
    "how": _Told("Compiled because of"),
    "requested_inside": _Told("Asked for inside", "device"),
    "not_followed": _Told("Not followed", "device"),
    "called_at": _Told("Called at", "line"),
    "missing": _Told("Asked for", "device", alone=True),
    "asked_at": _Told("Asked for at", "line"),
    "ran_on": _Told("Ran on", "device", alone=True),
    "inputs_also_on": _Told("Inputs also on", "device"),
    "made_on_default": _Told("Made on the default context by"),
    "made_on_default_at": _Told("Made there at", "line"),
    "also_at": _Told("Also at", "line"),
    "also_unplaced": _Told("No scope either at", "line"),
    "read_in_place": _Told("Read in place"),
    "raised": _Told("Raised"),
    # Why a transfer's ends are where they are.
    "forward_requested": _Told("Forward op asked for", "device"),
    "producer_forward_requested": _Told("Forward op asked for", "device"),
    "forward_at": _Told("Forward op", "line"),
    "forward_op": _Told("Forward op"),
    "called_on": _Told("Its function is called on", "device"),
    "placed_by": _Told("Device scopes opened by"),
    "lay_on": _Told("Lay on", "device"),
    "kernel": _Told("Kernel lookup"),
    "kernels_of": _Told("Looked up in"),
    "kept_in_host_memory": _Told("Kept in host memory"),
    "kept_by_kernel_of": _Told("By the kernel of"),
    "prefers_host": _Told("TensorFlow prefers its kernel for the host"),
    "dtype": _Told("Type"),
    "colocated_with": _Told("Kept beside"),
    "producer_colocated_with": _Told("Kept beside"),
    "producer_placed_beside": _Told("Kept beside"),
    "variable": _Told("Variable"),
    "lives_on": _Told("Lives on", "device"),
    "gradient_goes_back": _Told("Its gradient comes back"),
    "unchanged_again": _Told("Copied again unchanged"),
    "kept_by": _Told("Kept there by"),
    "created_at": _Told("Created at", "line"),
    "created_in": _Told("Created in a scope of", "device"),
    "object_made_at": _Told("Its object made at", "line"),
    "changed_at": _Told("Changed at", "line"),
    "result_on": _Told("A function's result, on", "device"),
    "default_device": _Told("Default device", "device"),
    "producer_default_device": _Told("Default device", "device"),
    "scope_apart": _Told("Scope open in another thread", "line"),
    "made_without_context": _Told("Given no context"),
    "made_at": _Told("Made at", "line"),
    "copied_at": _Told("Copied at", "line"),
    "call": _Told("Copied by"),
    "same_device": _Told("Already on", "device"),
    "copied_before": _Told("Copied before to", "device"),
    "sent_again": _Told("The same tensor is sent"),
    "result_of_a_call": _Told("A function's result, handed on by the default device"),
    "on_a_gpu": _Told("On a GPU"),
    "argument_made_by": _Told("Argument made by"),
    "by_another_thread": _Told("Sent by another thread than the steps'"),
    # Of chains, sums and waits.
    "gradients_back_at": _Told("Gradients go back at", "line"),
    "tensor_again_at": _Told("Python's array becomes a tensor again at", "line"),
    "by": _Told("Handed on unchanged by", alone=True),
    "causes": _Told("Each hop by itself"),
    "algorithm": _Told("Algorithm"),
    "devices": _Told("Among", "device"),
    "summed_on": _Told("Summed on", "device"),
    "applied_at": _Told("Applied there at", "line"),
    "exchanged": _Told("What"),
    "exchanged_of": _Told("Of parameters"),
    "kind": _Told("Waits by"),
    "device": _Told("For", "device", alone=True),
    "value_on": _Told("Value lies on", "device"),
    "made_by": _Told("Made by", alone=True),
    "handed_by": _Told("Handed over by", alone=True),
    "brought_at": _Told("Copied to the host before, at", "line"),
    "idle_meanwhile": _Told("Without work meanwhile"),
    # Of devices and replicas.
    "exchange": _Told("Exchange of gradients"),
    "trainer_made_at": _Told("Trainer made at", "line"),
    "parameters": _Told("Parameters compared"),
    "parameters_differing": _Told("Of them different"),
    "parameter_with_the_largest_difference": _Told("The most different one"),
    "first_check_largest_difference_ppb": _Told("Largest difference at first", "ppb"),
    "last_check_largest_difference_ppb": _Told("Largest difference at last", "ppb"),
    "first_check_step": _Told("First compared at step"),
    "last_check_step": _Told("Last compared at step"),
    "first_check_updates": _Told("Updates of each at first"),
    "last_check_updates": _Told("Updates of each at last"),
    "without_ops": _Told("Ran nothing", "device"),
    "with_ops": _Told("Ran all ops", "device"),
    "peak_bytes": _Told("Peak memory", "size"),
    "asked_for": _Told("Asked for"),
    "got": _Told("Got"),
    "lacking": _Told("In no process", "device"),
    "cards": _Told("Cards"),
    "told_by": _Told("Told by"),
    "launched_with": _Told("Launched with"),
    "in_the_process": _Told("In the process"),
    "counted_alike_with": _Told("Counted alike with"),
    "ops": _Told("Ops"),
}
"""What is told, by its name in the evidence, in the order in which it is told."""
_IN_ALL = "In the whole run"
_NOTHING: tuple[Any, ...] = (None, "", (), [], {}, False)
PlaceOf = Callable[[str | None], Place | None]


def facts_of(code: str, evidence: Mapping[str, Any], place_of: PlaceOf, basis: str) -> list[Fact]:
    """The facts of a finding of this code, in order.

    `basis` is that of the bytes of its transfers, whose ways are told apart; '' where there are none.
    """
    laid_out = bool(basis)
    found: dict[str, Fact] = {}
    for name, usual in _TOLD.items():
        value = evidence.get(name)
        told = usual
        if name == "ops":
            told = _Told("Distinct ops") if code == "unbalanced" else usual
            if isinstance(value, int):
                continue  # a number of them is told with the other numbers
        if (value in _NOTHING and told.kind != "ppb") or value is None or (told.alone and laid_out):
            continue
        fact = _fact(told, value, place_of)
        known = found.get(told.label)
        found[told.label] = fact if known is None else _both(known, fact)
    facts = [fact for fact in found.values() if fact.texts or fact.devices or fact.places]
    return facts + ([Fact(_IN_ALL, tuple(sums))] if (sums := list(_sums(evidence, basis))) else [])


def _sums(evidence: Mapping[str, Any], basis: str) -> Iterable[str]:
    """What it all comes to."""

    def number(name: str) -> int:
        value = evidence.get(name)
        return value if isinstance(value, int) else 0

    if number("ops"):
        yield units.plural(number("ops"), "op")
    if number("calls"):
        yield units.plural(number("calls"), "call")
    if number("op_executions_not_seen"):
        several = "executions of ops not seen"
        yield units.plural(number("op_executions_not_seen"), "execution of an op not seen", several)
    if number("count"):
        yield units.times(number("count"))
    if number("tensors") > 1:
        yield units.plural(number("tensors"), "tensor")
    if number("transfers"):
        yield units.plural(number("transfers"), "transfer")
    if number("bytes"):
        yield f"{units.size(number('bytes'))}{f' ({basis})' if basis else ''}"
    if number("estimated_copying_ns"):
        yield f"{units.duration(number('estimated_copying_ns') / 1e9)} of copying (estimated)"
    copied, split = number("copy_ns"), evidence.get("split")
    if stood := number("wait_ns") + copied:
        told = isinstance(split, str) and copied
        copying = f", of it {units.duration(copied / 1e9)} copying ({split})" if told else ""
        yield f"{units.duration(stood / 1e9)} waited{copying}"


def _fact(told: _Told, value: Any, place_of: PlaceOf) -> Fact:
    if isinstance(value, Mapping):
        return Fact(told.label, tuple(f"{name}: {_words(told, one)}" for name, one in value.items()))
    values = list(_each(value))
    if told.kind == "device":
        return Fact(told.label, devices=tuple(dict.fromkeys(map(str, values))))
    if told.kind == "line":
        places = (place_of(str(one)) for one in dict.fromkeys(values))
        return Fact(told.label, places=tuple(place for place in places if place))
    texts = list(dict.fromkeys(_words(told, one) for one in values))
    left = len(texts) - MOST_NAMED
    return Fact(told.label, (*texts[:MOST_NAMED], *([f"{left} more"] if left > 0 else ())))


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


def _words(told: _Told, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int):
        return str(value)
    if told.kind == "size":
        return units.size(value)
    if told.kind == "time":
        return units.duration(value / 1e9)
    return units.relative(value) if told.kind == "ppb" else units.count(value)
