"""Where TensorFlow's placer would put an op on a machine with GPUs: its rules, one after the other.

They are those of TensorFlow 2.15 to 2.21 (common_runtime/placer.cc, colocation_graph.cc and
eager/placement_utils.cc): what works on a resource stays where that lives; what asks for a device gets it, if
it has a kernel there; the rest goes to the caller's device or the first GPU, if it has a kernel there; and
what has none goes to the host.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from app.facts.devices import parse
from app.preflight.provenance import HIGH, LOW, MEDIUM
from probes.tf.kernel_table import Answer, KernelTable, Types
from probes.trace.hop import HOST

RULES = {
    "resource": "an op stays where the variable or other resource lives that it works on",
    "requested": "an op that asks for a device gets it, where it has a kernel for its types there",
    "caller": "inside a function, an op that asks for no device runs where the function was called",
    "default": "an op that asks for no device runs on the first GPU, where it has a kernel there",
    "no-kernel": "an op without a GPU kernel for its types runs on the host (soft placement)",
    "missing": "an op that asks for a device that is not there runs as if it had asked for none",
    "unknown-op": "the kernel table does not know the op, so it is taken to have a kernel",
    "handed-over": "a function takes tensors of type int32 in host memory, wherever they were made",
    "made-on-host": "Python data of type int32, or text, becomes a tensor on the host, whatever the scope",
    "beside": "an op that is bound to another, or only asks for its extents, goes beside it",
}
"""By the rule of a `Place`, what it says."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Where an op would run, and by which rule."""

    device: str
    rule: str
    """resource, requested, caller, default, no-kernel, missing, unknown-op, beside, handed-over or
    made-on-host."""
    answer: Answer
    """What the kernel table says of it on `device`."""
    lacking: Answer | None = None
    """With no-kernel, what the table says of the device that it cannot run on."""
    lacking_by_default: bool = False
    """Nobody had asked for that device."""


HANDED_OVER = Place(HOST, "handed-over", Answer("", "CPU", "found"))
"""Where a function gets an argument of a type that it takes in host memory."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """The machine that is foreseen."""

    devices: tuple[str, ...]
    table: KernelTable
    kinds: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Device -> whose kernels it takes, where that is not what its name says."""

    @property
    def default(self) -> str:
        """Where ops go that nobody placed."""
        return next((device for device in self.devices if self.kind(device) == "GPU"), HOST)

    def kind(self, device: str) -> str:
        """CPU or GPU."""
        parsed = parse(device)
        return self.kinds.get(device) or (parsed.type.upper() if parsed else "")

    def place(self, op: str, types: Types, requested: str, caller: str = "", home: str = "") -> Place:
        """Where an op runs for which the code asked for `requested`, in a function called on `caller`.

        `home` is where the resource lives that it works on; each is '' where there is none.
        """
        if home:
            answer = self._answer(op, home, types)
            wanted = next((one for one in (requested, caller) if one in self.devices), self.default)
            elsewhere = self._answer(op, wanted, types) if wanted != home else answer
            if elsewhere.missing:
                return Place(home, "no-kernel", answer, elsewhere, wanted != requested)
            return Place(home, "resource", answer)
        if requested in self.devices:
            return self._or_host(op, types, requested, "requested")
        rule = "missing" if requested else "default"
        if caller in self.devices:
            return self._or_host(op, types, caller, "missing" if requested else "caller")
        first = self._answer(op, self.default, types)
        on_host = self._answer(op, HOST, types)
        if first.found and on_host.found and on_host.priority > first.priority:
            return Place(HOST, rule, on_host)
        return self._or_host(op, types, self.default, rule)

    def made_on_host(self, op: str, types: Types) -> Place:
        """Where Python data becomes a tensor of a type that TensorFlow makes on the host."""
        return Place(HOST, "made-on-host", self._answer(op, HOST, types))

    def beside(self, op: str, types: Types, device: str) -> Place:
        """Where an op runs that goes to the device of another, and what the kernel table says of it there."""
        return Place(device, "beside", self._answer(op, device, types))

    def on_host(self, place: Place, types: Types, outputs: bool = False) -> frozenset[int]:
        """The numbers of the inputs, or outputs, that the op keeps in host memory where it runs on a GPU."""
        if self.kind(place.device) != "GPU":
            return frozenset()
        return self.table.host_slots(place.answer, types, outputs)

    def _or_host(self, op: str, types: Types, device: str, rule: str) -> Place:
        answer = self._answer(op, device, types)
        if answer.found:
            return Place(device, rule, answer)
        on_host = self._answer(op, HOST, types)
        if answer.missing and on_host.found:
            return Place(HOST, "no-kernel", on_host, answer, rule != "requested")
        return Place(device, "unknown-op", answer)

    def _answer(self, op: str, device: str, types: Types) -> Answer:
        return self.table.look_up(op, self.kind(device), types)


def confidence(places: Iterable[Place], same_version: bool) -> tuple[str, str]:
    """How far to trust what rests on these placements, and why no further: '' for high.

    `same_version`: the kernel table is of the script's own TensorFlow.
    """
    listed = list(places)
    if any(place.rule == "unknown-op" for place in listed):
        return LOW, "the kernel table does not know one of the ops"
    if any(not _certain(place) for place in listed):
        return MEDIUM, "not all types are known that a kernel depends on"
    if not same_version:
        return MEDIUM, "the kernel table is of another version of TensorFlow than the script's"
    if any(place.rule in ("default", "beside", "caller") for place in listed):
        return MEDIUM, "nobody asked for the device, and graph optimizers may still move or merge such ops"
    return HIGH, ""


def _certain(place: Place) -> bool:
    if place.rule == "no-kernel":
        return place.lacking is None or place.lacking.certain
    return place.rule in ("resource", "unknown-op", "made-on-host") or place.answer.certain
