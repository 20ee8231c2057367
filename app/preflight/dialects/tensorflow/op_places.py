"""Where each op of a flow would run, and where what it makes would lie."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator, Mapping, Sequence

from app.preflight.dialects.tensorflow.inlined_functions import Expanded, TooLarge, live
from app.preflight.dialects.tensorflow.placer import Machine, Place
from probes.tf.kernel_table import Types
from probes.trace.hop import HOST
from probes.trace.preflight_notes import HANDLES, PYTHON, Flow, Node, Op, Pull, Record, Taken, Tensor

_METADATA = frozenset({"Shape", "Size", "Rank"})
STAYS_ON_HOST = frozenset({"int32", "string", "resource", "variant"})
"""Types of which TensorFlow makes a tensor from Python data on the host whatever the scope says, or hands it
to a function there (pywrap_tensor.cc; MTypeFromDType in common_runtime/memory_types.cc)."""
CONSTANT = "_EagerConst"


@dataclasses.dataclass(frozen=True)
class Lies:
    """Where a tensor lies."""

    device: str
    """Of the op that made it."""
    at: str
    """The device in whose memory it is: the host for what a GPU's kernel keeps there."""


@dataclasses.dataclass(frozen=True)
class Ran:
    """An op that ran."""

    op: Op
    place: Place
    call: Record
    """The call of its function; the op itself outside of functions."""
    tensors: tuple[Tensor, ...]
    """What it takes and makes."""
    within: str = ""

    @property
    def loc(self) -> int:
        """The op's line, or that of the call."""
        return self.op.loc or self.call.loc

    @property
    def times(self) -> int | None:
        """As `often` has it; None for what stands in a branch."""
        return None if self.within == "branch" else often(self.call)


class Placing:
    """The placed records of one process."""

    def __init__(self, flow: Flow, machine: Machine) -> None:
        self.flow = flow
        self.machine = machine
        self.places: dict[int, Place] = {}
        self.homes: dict[int, str] = {}
        """Where the resource lives that a record made."""
        self.lies: dict[tuple[int, int], Lies] = {}
        self.functions: dict[int, PlacedFunction] = {}
        """By the record of the call."""
        self.too_large: list[Record] = []
        self._expanded: dict[str, Expanded | None] = {}
        for record in flow.records:
            self._place(record)

    def made(self, maker: int, output: int, tensor: Tensor) -> Lies:
        """Where a record's output lies; Python's data lies on the host."""
        if maker == PYTHON:
            return Lies(HOST, HOST)
        known = self.lies.get((maker, output))
        if known is not None:
            return known
        place = self.places.get(maker)
        device = place.device if place else HOST
        return Lies(device, HOST if tensor.dtype in STAYS_ON_HOST else device)

    def home(self, maker: int) -> str:
        """Where the resource lives that a record made; '' where that is not known."""
        return self.homes.get(maker, "")

    def _place(self, record: Record) -> None:
        if record.function:
            self._call(record)
            return
        homes = (self.home(one.maker) for one in record.inputs if one.tensor.dtype == "resource")
        beside = None if record.beside is None else self.places.get(record.beside)
        constant = record.op == CONSTANT
        types = {"T": record.outputs[0].dtype} if constant else record.types
        if constant and record.outputs[0].dtype in STAYS_ON_HOST:
            place = self.machine.made_on_host(record.op, types)
        else:
            requested = beside.device if beside is not None else record.requested
            place = self.machine.place(record.op, types, requested, home=next(filter(None, homes), ""))
        self.places[record.number] = place
        self.lies |= laid(record.number, record.outputs, types, place, self.machine)
        if any(tensor.dtype == "resource" for tensor in record.outputs):
            self.homes[record.number] = place.device

    def ran(self) -> Iterator[Ran]:
        """Every op that ran, outside of functions and inside."""
        for record in self.flow.records:
            if not record.function:
                taken = (one.tensor for one in record.inputs)
                yield Ran(record, self.places[record.number], record, (*taken, *record.outputs))
        for number, placed in self.functions.items():
            call = self.flow.records[number]
            for one, place in placed.places.items():
                op = placed.ops[one]
                yield Ran(op, place, call, (*_taken(op, call, placed.ops), *op.outputs), op.within)

    # -- functions -------------------------------------------------------------------------------------------

    def _call(self, record: Record) -> None:
        caller = record.requested if record.requested in self.machine.devices else ""
        self.places[record.number] = self.machine.place("NoOp", {}, caller)
        expanded = self._expand(record.function)
        if expanded is None:
            if record.function in self.flow.functions and not self.flow.functions[record.function].compiled:
                self.too_large.append(record)
            return
        given: dict[int, Lies] = {}
        homes: dict[int, str] = {}
        for one in record.inputs:
            if one.slot in given:
                continue
            lies = self.made(one.maker, one.output, one.tensor)
            given[one.slot] = Lies(HOST, HOST) if one.tensor.dtype in STAYS_ON_HOST else lies
            if one.tensor.dtype in HANDLES:
                homes[-1 - one.slot] = self.home(one.maker) or lies.device
        placed = PlacedFunction(expanded, given, homes, caller, self.machine)
        self.functions[record.number] = placed
        for output, lies in enumerate(placed.results):
            self.lies[(record.number, output)] = lies

    def _expand(self, name: str) -> Expanded | None:
        if name not in self._expanded:
            function = self.flow.functions.get(name)
            try:
                known = function is not None and not function.compiled
                made = Expanded(function, self.flow.functions) if function is not None and known else None
            except (RecursionError, TooLarge):
                made = None
            self._expanded[name] = made
        return self._expanded[name]


def often(counted: Record | Taken | Pull) -> int:
    """How often in the steps after the first; below 0 where only up to the end of that."""
    return counted.count - counted.early or -counted.count


def _taken(op: Node, call: Record, ops: Sequence[Node]) -> Iterator[Tensor]:
    for number, output in op.inputs:
        if number >= 0:
            yield from ops[number].outputs[output : output + 1]
        else:
            yield from (one.tensor for one in call.inputs if one.slot == -1 - number)


class PlacedFunction:
    """The ops of a function that was called with arguments that lie there."""

    def __init__(
        self,
        expanded: Expanded,
        given: Mapping[int, Lies],
        homes: Mapping[int, str],
        caller: str,
        machine: Machine,
    ) -> None:
        """`given` says where its arguments lie, by number.

        `homes` says where the resources live that are among them, by -1 - number.
        """
        self.expanded = expanded
        self.ops: Sequence[Node] = expanded.ops
        self.places: dict[int, Place] = {}
        """By the op's number; ops that are pruned are not in it."""
        self.lies = {(-1 - number, 0): where for number, where in given.items()}
        """By the op's number and output; arguments as (-1 - number, 0)."""
        self._machine = machine
        self._caller = caller
        self._by_name = {op.name: number for number, op in enumerate(self.ops)}
        self._place_all(live(self.ops, expanded.results), dict(homes))
        # In a loop an op may take what a later one makes.
        self.results = [self.lies.get(source, Lies(HOST, HOST)) for source in expanded.results]

    def _place_all(self, kept: Container[int], homes: dict[int, str]) -> None:
        ops = {number: op for number, op in enumerate(self.ops) if number in kept}
        consumers: dict[int, list[int]] = {}
        late: list[int] = []
        for number, op in ops.items():
            for source, _ in op.inputs:
                consumers.setdefault(source, []).append(number)
            generator = not op.inputs and len(op.outputs) == 1 and not op.requested
            if generator and op.outputs[0].dtype not in HANDLES:
                late.append(number)
                continue
            home = next((homes[source] for source, _ in op.inputs if source in homes), "")
            place = self._place(op, home)
            if any(tensor.dtype in HANDLES for tensor in op.outputs):
                homes[number] = place.device
            self._lay(number, op, place)
        for number in late:
            op = ops[number]
            wanted = {self.places[one].device for one in consumers.get(number, ()) if one in self.places}
            # A constant goes to where all that takes it is.
            beside = self._machine.beside(op.op, op.types, wanted.pop()) if len(wanted) == 1 else None
            known = beside is not None and beside.answer.found
            self._lay(number, op, beside if known and beside else self._place_freely(op))

    def _place_freely(self, op: Node, home: str = "") -> Place:
        return self._machine.place(op.op, op.types, op.requested, self._caller, home)

    def _place(self, op: Node, home: str) -> Place:
        if not home and not op.requested:
            for other in op.beside:
                known = self.places.get(self._by_name.get(other, -1))
                if known is not None:
                    beside = self._machine.beside(op.op, op.types, known.device)
                    if not beside.answer.missing:
                        return beside
        if op.op in _METADATA and not op.requested and op.inputs and op.inputs[0] in self.lies:
            # What only asks for a tensor's extents goes to where the tensor is.
            beside = self._machine.beside(op.op, op.types, self.lies[op.inputs[0]].device)
            if beside.answer.found:
                return beside
        return self._place_freely(op, home)

    def _lay(self, number: int, op: Node, place: Place) -> None:
        self.places[number] = place
        self.lies |= laid(number, op.outputs, op.types, place, self._machine)


def laid(
    number: int, outputs: Sequence[Tensor], types: Types, place: Place, machine: Machine
) -> dict[tuple[int, int], Lies]:
    """Where what an op makes lies, by its number and output."""
    on_host = machine.on_host(place, types, outputs=True)
    return {
        (number, output): Lies(
            place.device, HOST if output in on_host or tensor.dtype == "string" else place.device
        )
        for output, tensor in enumerate(outputs)
    }
