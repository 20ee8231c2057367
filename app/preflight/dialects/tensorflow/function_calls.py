"""What crosses inside of functions on a foreseen machine, in each of their calls."""

from __future__ import annotations

from typing import Any

from app.preflight.dialects.tensorflow.op_flow import HANDLES, Node, Record, Source, Tensor
from app.preflight.dialects.tensorflow.op_places import Lies, PlacedFunction
from app.preflight.dialects.tensorflow.placer import HANDED_OVER, HOST, Place
from app.preflight.dialects.tensorflow.trace_keys import Keys, often
from app.preflight.dialects.tensorflow.transfer_origins import Origins, resource_of
from probes.trace.hop import IN_GRAPH

_PLUMBING = frozenset({"Identity", "Merge", "IdentityN", "StopGradient"})
_FOLDED = frozenset({"Const", "Shape", "Size", "Rank"})
"""Made at compile time, so small ones of them are where they are needed."""
_SMALL = 64
IN_PYTHON = frozenset({"PyFunc", "PyFuncStateless"})
"""Hand their inputs to Python as numpy arrays. (EagerPyFunc hands over tensors: what is taken is seen.)"""


class Call:
    """The calls of one function from one line."""

    def __init__(self, record: Record, placed: PlacedFunction, origins: Origins, keys: Keys) -> None:
        self._record = record
        self._places = placed.places
        self._ops = placed.ops
        self._lies = placed.lies
        self._origins = origins
        self._keys = keys

    def note(self) -> None:
        """Note its ops, and what they take from elsewhere."""
        sent: dict[tuple[Source, str, str], dict[str, Any]] = {}
        for number, place in self._places.items():
            op = self._ops[number]
            times = None if op.within else often(self._record)
            if op.op not in _PLUMBING:
                self._keys.op(op, place.device, op.loc or self._record.loc, times)
            if op.op in IN_PYTHON:
                self._python(op, place, times)
                continue
            on_host = self._origins.placing.machine.on_host(place, op.types)
            for slot, source in enumerate(op.inputs):
                tensor, lies = self._value(source)
                target = HOST if slot in on_host else place.device
                if tensor is None or lies is None or lies.at == target or tensor.bytes == 0:
                    continue
                if source[0] >= 0 and self._ops[source[0]].op in _FOLDED and (tensor.bytes or 0) <= _SMALL:
                    continue
                if known := sent.get((source, place.device, target)):
                    known["consumers"].append(op.name)
                else:
                    hop = self._transfer(number, source, tensor, lies, target, times)
                    sent[source, place.device, target] = hop

    def _value(self, source: Source) -> tuple[Tensor | None, Lies | None]:
        """A value of the function, and where it lies; None for one that is not sent, or is not known."""
        number, output = source
        tensor = None
        if number >= 0:
            outputs = self._ops[number].outputs
            tensor = outputs[output] if output < len(outputs) else None
        elif one := self._record.by_slot.get(-1 - number):
            tensor = one.tensor
        sends = tensor is not None and tensor.dtype not in HANDLES and tensor.dtype != "string"
        return (tensor if sends else None), self._lies.get(source)

    def _python(self, op: Node, place: Place, times: int | None) -> None:
        """What Python code takes that the graph calls: it waits for each value, as for any that is taken."""
        loc, size = op.loc or self._record.loc, 0
        devices: dict[str, None] = {}
        for source in op.inputs:
            tensor, lies = self._value(source)
            if tensor is None or lies is None or lies.at == HOST:
                continue
            devices[lies.at] = None
            size += tensor.bytes or 0
            self._keys.hop(
                tensor, lies, HOST, HOST, times, [place, self._places.get(source[0])],
                **self._made_by(source[0]), op="Python", loc=loc, consumers=[IN_GRAPH], kind="pull",
                facts={"sync": IN_GRAPH},
            )  # fmt: skip
        for device in devices:
            self._keys.sync(device, IN_GRAPH, loc, size, times)

    def _made_by(self, number: int) -> dict[str, Any]:
        """What a hop's fields say of what made a value, an argument as -1 - number."""
        if number < 0:
            return self._origins.argument(self._record, -1 - number)
        made = self._ops[self._real_number(number)]
        return {
            "producer": self._ops[number].name,
            "producer_op": made.op,
            "producer_loc": made.loc,
            "producer_requested": made.requested,
        }

    def _transfer(
        self, consumer: int, source: Source, tensor: Tensor, lies: Lies, target: str, times: int | None
    ) -> dict[str, Any]:
        number, op, place = source[0], self._ops[consumer], self._places[consumer]
        maker = self._ops[number] if number >= 0 else None
        made = self._places.get(number)
        facts: dict[str, Any] = self._origins.evidence(op, place, maker, made)
        if op.op in _PLUMBING:
            facts |= self._handed_to(consumer) | {"rewritten": True}
        if maker is None:
            if lay := self._origins.lay_on(self._record, -1 - number):
                facts["argument_lay_on"] = lay
                made = HANDED_OVER
        elif (real := self._real_number(number)) != number:
            facts |= self._only_on_host("producer_", real)
            if lies.at == HOST:
                facts["kept_by_kernel_of"] = maker.op  # plumbing too has kernels with a memory of their own
        elif maker.op == "ReadVariableOp":
            handle = self._handle_of(maker)
            facts["variable"] = self._origins.name(handle) or maker.name
            facts |= self._origins.created(handle)
        if place.rule == "resource":
            facts["colocated_with"] = self._origins.name(self._handle_of(op)) or "a resource"
        return self._keys.hop(
            tensor, lies, place.device, target, times, [place, made], **self._made_by(number),
            op=op.op, loc=op.loc or self._record.loc,
            forward_loc=op.forward_loc or (maker.forward_loc if maker else 0), consumers=[op.name],
            kind="copy" if maker else "arg", requested=op.requested, facts=facts,
        )  # fmt: skip

    def _handle_of(self, op: Node) -> int:
        """The record that made the variable, or other resource, that an op takes."""
        return resource_of(self._record.by_slot.get(-1 - source) for source, _ in op.inputs)

    def _handed_to(self, number: int) -> dict[str, Any]:
        """That all that plumbing hands a value on to is for the host only, as the code asks for."""
        known = [self._only_on_host("", user) for user in self._users(number)]
        return known[0] if known and all(known) else {}

    def _users(self, number: int) -> list[int]:
        """The numbers of what takes a value, behind plumbing."""
        found: list[int] = []
        following, seen = [number], {number}
        while following:
            at = following.pop()
            for user in self._places:
                if user in seen or all(source != at for source, _ in self._ops[user].inputs):
                    continue
                seen.add(user)
                (following if self._ops[user].op in _PLUMBING else found).append(user)
        return found

    def _only_on_host(self, prefix: str, number: int) -> dict[str, Any]:
        facts = self._origins.lacks(prefix, self._ops[number].op, self._places.get(number))
        return {name: value for name, value in facts.items() if name == f"{prefix}host_only"}

    def _real_number(self, number: int) -> int:
        """The op that made a value which plumbing only hands on."""
        seen = {number}
        while self._ops[number].op in _PLUMBING and len(self._ops[number].inputs) == 1:
            following = self._ops[number].inputs[0][0]
            if following < 0 or following in seen:
                break
            seen.add(following)
            number = following
        return number
