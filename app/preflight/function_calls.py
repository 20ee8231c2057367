"""What crosses inside of functions on a foreseen machine, in each of their calls."""

from __future__ import annotations

from typing import Any

from app.preflight.inlined_functions import Op
from app.preflight.op_flow import HANDLES, Record, Tensor
from app.preflight.op_places import Lies, PlacedFunction
from app.preflight.placer import HANDED_OVER, HOST, Machine, Place
from app.preflight.trace_keys import Keys, about, often
from app.preflight.transfer_origins import Origins, handle_of
from probes.trace.hop import IN_GRAPH, hop_fields

_PLUMBING = frozenset({"Identity", "Merge", "IdentityN", "StopGradient"})
_FOLDED = frozenset({"Const", "Shape", "Size", "Rank"})
"""Made at compile time, so small ones of them are where they are needed."""
_SMALL = 64
IN_PYTHON = frozenset({"PyFunc", "PyFuncStateless"})
"""Hand their inputs to Python as numpy arrays. (EagerPyFunc hands over tensors: what is taken is seen.)"""


class Call:
    """The calls of one function from one line."""

    def __init__(
        self, record: Record, placed: PlacedFunction, machine: Machine, origins: Origins, keys: Keys
    ) -> None:
        self._record = record
        self._placed = placed
        self._machine = machine
        self._origins = origins
        self._keys = keys

    def note(self) -> None:
        """Note its ops, and what they take from elsewhere."""
        sent: dict[tuple[tuple[int, int], str, str], dict[str, Any]] = {}
        for number, place in self._placed.places.items():
            op = self._placed.ops[number]
            times = None if op.within else often(self._record)
            if op.op not in _PLUMBING:
                loc = op.loc or self._record.loc
                self._keys.op(op.op, place.device, op.requested, loc, op.forward_loc, times)
            if op.op in IN_PYTHON:
                self._python(op, place, times)
                continue
            on_host = self._machine.on_host(place, op.types)
            for slot, source in enumerate(op.inputs):
                found = self._value(source)
                if found is None:
                    continue
                tensor, lies = found
                target = HOST if slot in on_host else place.device
                if lies.at == target or tensor.bytes == 0 or self._folded(source, tensor):
                    continue
                known = sent.get((source, place.device, target))
                if known is not None:
                    known["consumers"].append(op.name)
                    continue
                fields = self._transfer(op, place, source, tensor, lies, target)
                made = self._placed.places.get(source[0])
                if fields["facts"].get("argument_lay_on"):
                    made = HANDED_OVER
                self._keys.hop(fields, times, place, made)
                sent[(source, place.device, target)] = fields

    def _value(self, source: tuple[int, int]) -> tuple[Tensor, Lies] | None:
        """A value of the function, and where it lies; None for one that is not sent, or is not known."""
        tensor, lies = self._tensor(source), self._placed.lies.get(source)
        if tensor is None or lies is None or tensor.dtype in HANDLES or tensor.dtype == "string":
            return None
        return tensor, lies

    def _tensor(self, source: tuple[int, int]) -> Tensor | None:
        number, output = source
        if number >= 0:
            outputs = self._placed.ops[number].outputs
            return outputs[output] if output < len(outputs) else None
        return next((one.tensor for one in self._record.inputs if one.slot == -1 - number), None)

    def _folded(self, source: tuple[int, int], tensor: Tensor) -> bool:
        if source[0] < 0 or self._placed.ops[source[0]].op not in _FOLDED:
            return False
        return tensor.bytes is None or tensor.bytes <= _SMALL

    def _python(self, op: Op, place: Place, times: int | None) -> None:
        """What Python code takes that the graph calls: it waits for each value, as for any that is taken."""
        loc, size = op.loc or self._record.loc, 0
        devices: dict[str, None] = {}
        for source in op.inputs:
            found = self._value(source)
            if found is None:
                continue
            tensor, lies = found
            device = place.device if lies.at == HOST else lies.at
            if device == HOST:
                continue
            devices[device] = None
            size += tensor.bytes or 0
            maker = self._placed.ops[source[0]] if source[0] >= 0 else None
            fields = hop_fields(
                device,
                HOST,
                **about(tensor),
                op="Python",
                loc=loc,
                producer=maker.name if maker else "",
                producer_op=self._real_maker(source[0]).op if maker else "?",
                producer_loc=maker.loc if maker else 0,
                consumers=[IN_GRAPH],
                kind="pull",
                producer_requested=maker.requested if maker else "",
                facts={"sync": IN_GRAPH},
            )
            self._keys.hop(fields, times, place, self._placed.places.get(source[0]))
        for device in devices:
            self._keys.sync(device, IN_GRAPH, loc, size, times)

    def _transfer(
        self, op: Op, place: Place, source: tuple[int, int], tensor: Tensor, lies: Lies, target: str
    ) -> dict[str, Any]:
        number = source[0]
        facts: dict[str, Any] = self._origins.lacks("", op.op, place)
        if op.forward_loc:
            facts["forward_requested"] = op.forward_requested
        if op.op in _PLUMBING:
            facts |= self._handed_to(op) | {"rewritten": True}
        maker = self._placed.ops[number] if number >= 0 else None
        if maker is not None:
            made = self._real_maker(number)
            facts |= self._origins.lacks("producer_", maker.op, self._placed.places.get(number))
            if made is not maker:
                facts |= self._only_on_host("producer_", self._real_number(number))
            if maker.forward_loc:
                facts["producer_forward_requested"] = maker.forward_requested
            if maker.op == "ReadVariableOp":
                handle = handle_of(self._record, maker)
                facts["variable"] = self._origins.name(handle) or maker.name
                facts |= self._origins.created(handle)
            if lies.at == HOST and made is not maker:
                facts["kept_by_kernel_of"] = maker.op  # plumbing too has kernels with a memory of their own
            producer, producer_op, producer_loc = maker.name, made.op, made.loc
            producer_requested, kind = made.requested, "copy"
        else:
            argument = self._origins.argument(self._record, -1 - number)
            producer, producer_op, producer_loc, producer_requested = argument
            kind = "arg"
            if lay := self._origins.lay_on(self._record, -1 - number):
                facts["argument_lay_on"] = lay
        if place.rule == "resource":
            facts["colocated_with"] = self._origins.name(handle_of(self._record, op)) or "a resource"
        return hop_fields(
            lies.device,
            place.device,
            **about(tensor),
            op=op.op,
            loc=op.loc or self._record.loc,
            producer=producer,
            producer_op=producer_op,
            producer_loc=producer_loc,
            forward_loc=op.forward_loc or (maker.forward_loc if maker else 0),
            consumers=[op.name],
            kind=kind,
            requested=op.requested,
            producer_requested=producer_requested,
            facts=facts,
            src_memory="host" if lies.at == HOST else "",
            dst_memory="host" if target == HOST else "",
        )

    def _handed_to(self, op: Op) -> dict[str, Any]:
        """That all that plumbing hands a value on to is for the host only, as the code asks for."""
        known = [self._only_on_host("", number) for number in self._users(op)]
        return known[0] if known and all(known) else {}

    def _users(self, op: Op) -> list[int]:
        """The numbers of what takes a value, behind plumbing."""
        ops = self._placed.ops
        found: list[int] = []
        following = [number for number, one in enumerate(ops) if one is op]
        seen = set(following)
        while following:
            at = following.pop()
            for number in self._placed.places:
                if number in seen or all(source != at for source, _ in ops[number].inputs):
                    continue
                seen.add(number)
                (following if ops[number].op in _PLUMBING else found).append(number)
        return found

    def _only_on_host(self, prefix: str, number: int) -> dict[str, Any]:
        facts = self._origins.lacks(prefix, self._placed.ops[number].op, self._placed.places.get(number))
        return {name: value for name, value in facts.items() if name == f"{prefix}host_only"}

    def _real_maker(self, number: int) -> Op:
        """What made a value that plumbing only hands on."""
        return self._placed.ops[self._real_number(number)]

    def _real_number(self, number: int) -> int:
        ops = self._placed.ops
        seen = {number}
        while ops[number].op in _PLUMBING and len(ops[number].inputs) == 1 and ops[number].inputs[0][0] >= 0:
            following = ops[number].inputs[0][0]
            if following in seen:
                break
            seen.add(following)
            number = following
        return number
