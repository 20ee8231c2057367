"""The transfers of a foreseen run, as the recorder would have noted them: keys for the ordinary analysis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from app.analysis.preflight.expanded import Op
from app.analysis.preflight.flow import HANDLES, PYTHON, Flow, Pull, Record, Taken, Tensor
from app.analysis.preflight.machine import HOST, Machine, Place
from app.analysis.preflight.placing import CONSTANT, Lies, PlacedFunction, Placing
from probes.tf.kernel_table import of_the_host
from probes.trace.hop import IN_GRAPH, hop_fields
from probes.trace.rows import Key

_PLUMBING = frozenset({"Identity", "Merge", "IdentityN", "StopGradient"})
_FOLDED = frozenset({"Const", "Shape", "Size", "Rank"})
"""Made at compile time, so small ones of them are where they are needed."""
_SMALL = 64
IN_PYTHON = frozenset({"PyFunc", "PyFuncStateless"})
"""Hand their inputs to Python as numpy arrays. (EagerPyFunc hands over tensors: what is taken is seen.)"""


class Crossings:
    """All transfers and waits of one process."""

    def __init__(self, placing: Placing) -> None:
        self.placing = placing
        self.flow: Flow = placing.flow
        self.machine: Machine = placing.machine
        self.keys: list[Key] = []
        self.rules: dict[int, tuple[Place, ...]] = {}
        """By the key's id: by which rules consumer and producer were placed."""
        for record in self.flow.records:
            self._record(record)
        for pull in self.flow.pulls:
            self._pull(pull)

    # -- outside of functions --------------------------------------------------------------------------------

    def _record(self, record: Record) -> None:
        placed = self.placing.functions.get(record.number)
        if placed is not None:
            self._function(record, placed)
            return
        if record.function:
            return
        place = self.placing.places[record.number]
        self._op_key(
            record.op, place.device, record.requested, record.loc, record.forward_loc, _often(record)
        )
        if record.op == CONSTANT and place.device != HOST:
            tensor = record.outputs[0]
            fields = hop_fields(HOST, place.device, **_about(tensor), op="Const", loc=record.loc,
                                producer="", producer_op="Python", producer_loc=record.loc, kind="upload",
                                requested=record.requested)  # fmt: skip
            self._hop(fields, _often(record), (place,))
        on_host = self.machine.on_host(place, record.types)
        sent: set[tuple[int, int, str, tuple[int, ...]]] = set()
        for one in record.inputs:
            if one.tensor.dtype in HANDLES or one.tensor.dtype == "string":
                continue
            target = HOST if one.slot in on_host else place.device
            lies = self.placing.made(one.maker, one.output, one.tensor)
            if (
                lies.at == target
                or one.tensor.bytes == 0
                or self._there(one, target)
                or (one.maker == PYTHON and not one.tensor.shape)
            ):
                continue
            # An op that takes a tensor twice gets it once.
            transfer = (one.maker, one.output, target, one.before)
            if transfer not in sent:
                sent.add(transfer)
                self._eager(record, place, one, lies, target)

    def _there(self, one: Taken, target: str) -> bool:
        """Whether an earlier op had the tensor copied to the same memory: TensorFlow keeps such copies."""
        for number in one.before:
            if number >= len(self.flow.records):
                continue
            place = self.placing.places.get(number)
            if place is not None and place.device == target and not self.flow.records[number].function:
                return True
        return False

    def _eager(self, record: Record, place: Place, one: Taken, lies: Lies, target: str) -> None:
        maker = self.flow.records[one.maker] if one.maker != PYTHON else None
        made = self.placing.places.get(one.maker)
        facts: dict[str, Any] = {}
        if record.forward_loc:
            facts["forward_requested"] = record.forward_requested
        if maker is not None and maker.forward_loc:
            facts["producer_forward_requested"] = maker.forward_requested
        facts |= self._lacks("", record.op, place) | self._lacks("producer_", maker.op if maker else "", made)
        variable = self._variable(maker)
        if variable:
            facts |= {"variable": variable} | self._created(maker.inputs[0].maker if maker else PYTHON)
        if place.rule == "resource":
            facts["colocated_with"] = self._resource(record)
        fields = hop_fields(
            lies.device,
            place.device,
            **_about(one.tensor),
            op=record.op,
            loc=record.loc,
            producer=variable or (self._label(maker) if maker else ""),
            producer_op=maker.op if maker and not maker.function else "Python" if maker is None else "Call",
            producer_loc=maker.loc if maker else record.loc,
            forward_loc=record.forward_loc,
            kind="upload" if maker is None else "copy",
            requested=record.requested,
            producer_requested=maker.requested if maker else "",
            facts=facts,
            src_memory="host" if lies.at == HOST else "",
            dst_memory="host" if target == HOST else "",
        )
        self._hop(fields, one.count - one.early or -one.count, tuple(p for p in (place, made) if p))

    def _variable(self, maker: Record | None) -> str:
        if maker is None or maker.op != "ReadVariableOp" or not maker.inputs:
            return ""
        handle = maker.inputs[0].maker
        return self.flow.records[handle].name if handle != PYTHON else ""

    def _resource(self, record: Record) -> str:
        makers = (
            one.maker for one in record.inputs if one.tensor.dtype == "resource" and one.maker != PYTHON
        )
        return next((self.flow.records[maker].name for maker in makers), "") or "a resource"

    def _label(self, record: Record) -> str:
        function = self.flow.functions.get(record.function)
        return function.label if function else record.name or record.op

    # -- inside of functions ---------------------------------------------------------------------------------

    def _function(self, record: Record, placed: PlacedFunction) -> None:
        often = _often(record)
        sent: dict[tuple[tuple[int, int], str, str], tuple[dict[str, Any], Key]] = {}
        for number, place in placed.places.items():
            op = placed.ops[number]
            loc = op.loc or record.loc
            times = None if op.within else often
            if op.op not in _PLUMBING:
                self._op_key(op.op, place.device, op.requested, loc, op.forward_loc, times)
            if op.op in IN_PYTHON:
                self._python(record, placed, number, times)
                continue
            on_host = self.machine.on_host(place, op.types)
            for slot, source in enumerate(op.inputs):
                tensor = self._tensor(record, placed, source)
                lies = placed.lies.get(source)
                if tensor is None or lies is None or tensor.dtype in HANDLES or tensor.dtype == "string":
                    continue
                target = HOST if slot in on_host else place.device
                if lies.at == target or tensor.bytes == 0 or self._folded(placed, source, tensor):
                    continue
                known = sent.get((source, place.device, target))
                if known is not None:
                    known[0]["consumers"].append(op.name)
                    continue
                fields = self._sent(record, placed, op, place, source, tensor, lies, target)
                made = placed.places.get(source[0])
                key = self._hop(fields, times, tuple(p for p in (place, made) if p))
                sent[(source, place.device, target)] = fields, key

    def _python(self, record: Record, placed: PlacedFunction, number: int, times: int | None) -> None:
        """What Python code takes that the graph calls: it waits for each value, as for any that is taken."""
        op, place = placed.ops[number], placed.places[number]
        loc, size = op.loc or record.loc, 0
        devices: dict[str, None] = {}
        for source in op.inputs:
            tensor, lies = self._tensor(record, placed, source), placed.lies.get(source)
            if tensor is None or lies is None or tensor.dtype in HANDLES or tensor.dtype == "string":
                continue
            device = place.device if lies.at == HOST else lies.at
            if device == HOST:
                continue
            devices[device] = None
            size += tensor.bytes or 0
            maker = placed.ops[source[0]] if source[0] >= 0 else None
            hop = hop_fields(
                device,
                HOST,
                **_about(tensor),
                op="Python",
                loc=loc,
                producer=maker.name if maker else "",
                producer_op=self._real_maker(placed, source[0]).op if maker else "?",
                producer_loc=maker.loc if maker else 0,
                consumers=[IN_GRAPH],
                kind="pull",
                producer_requested=maker.requested if maker else "",
                facts={"sync": IN_GRAPH},
            )
            made = placed.places.get(source[0])
            self._hop(hop, times, tuple(p for p in (place, made) if p))
        for device in devices:
            fields = {"device": device, "kind": IN_GRAPH, "loc": loc, "bytes": size, "basis": "estimated"}
            self._key("sync", fields, times)

    @staticmethod
    def _folded(placed: PlacedFunction, source: tuple[int, int], tensor: Tensor) -> bool:
        if source[0] < 0 or placed.ops[source[0]].op not in _FOLDED:
            return False
        return tensor.bytes is None or tensor.bytes <= _SMALL

    def _tensor(self, record: Record, placed: PlacedFunction, source: tuple[int, int]) -> Tensor | None:
        number, output = source
        if number >= 0:
            outputs = placed.ops[number].outputs
            return outputs[output] if output < len(outputs) else None
        return next((one.tensor for one in record.inputs if one.slot == -1 - number), None)

    def _sent(
        self,
        record: Record,
        placed: PlacedFunction,
        op: Op,
        place: Place,
        source: tuple[int, int],
        tensor: Tensor,
        lies: Lies,
        target: str,
    ) -> dict[str, Any]:
        number = source[0]
        facts: dict[str, Any] = self._lacks("", op.op, place)
        if op.forward_loc:
            facts["forward_requested"] = op.forward_requested
        if op.op in _PLUMBING:
            facts["rewritten"] = True
        maker = placed.ops[number] if number >= 0 else None
        if maker is not None:
            made = self._real_maker(placed, number)
            facts |= self._lacks("producer_", maker.op, placed.places.get(number))
            if maker.forward_loc:
                facts["producer_forward_requested"] = maker.forward_requested
            if maker.op == "ReadVariableOp":
                handle = self._handle_of(record, maker)
                facts["variable"] = self._name_of(handle) or maker.name
                facts |= self._created(handle)
            producer, producer_op, producer_loc = maker.name, made.op, made.loc
            producer_requested, kind = made.requested, "copy"
        else:
            producer, producer_op, producer_loc, producer_requested = self._argument(record, -1 - number)
            kind = "arg"
        if place.rule == "resource":
            facts["colocated_with"] = self._name_of(self._handle_of(record, op)) or "a resource"
        return hop_fields(
            lies.device,
            place.device,
            **_about(tensor),
            op=op.op,
            loc=op.loc or record.loc,
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

    @staticmethod
    def _real_maker(placed: PlacedFunction, number: int) -> Op:
        """What made a value that plumbing only hands on."""
        op = placed.ops[number]
        seen = {number}
        while op.op in _PLUMBING and len(op.inputs) == 1 and op.inputs[0][0] >= 0:
            number = op.inputs[0][0]
            if number in seen:
                break
            seen.add(number)
            op = placed.ops[number]
        return op

    @staticmethod
    def _handle_of(record: Record, op: Op) -> int:
        """The record that made the variable, or other resource, that an op of the called function takes."""
        for source, _ in op.inputs:
            handle = next((one for one in record.inputs if one.slot == -1 - source), None)
            if handle is not None and handle.tensor.dtype == "resource" and handle.maker != PYTHON:
                return handle.maker
        return PYTHON

    def _name_of(self, handle: int) -> str:
        return self.flow.records[handle].name if handle != PYTHON else ""

    def _created(self, handle: int) -> dict[str, str]:
        """Where a variable was created, if it is for the scope there that it lives where it does."""
        made = self.flow.records[handle] if handle != PYTHON else None
        site = self.flow.sites.get(made.loc) if made is not None else None
        if made is None or site is None or made.requested != self.placing.home(handle):
            return {}
        return {"created_at": site[0], "created_in": made.requested}

    def _argument(self, record: Record, slot: int) -> tuple[str, str, int, str]:
        one = next((one for one in record.inputs if one.slot == slot), None)
        if one is None or one.maker == PYTHON:
            return "", "Python", record.loc, ""
        maker = self.flow.records[one.maker]
        op = "Const" if maker.op == CONSTANT else "Call" if maker.function else maker.op
        return self._label(maker), op, maker.loc, maker.requested

    # -- values taken ----------------------------------------------------------------------------------------

    def _pull(self, pull: Pull) -> None:
        lies = self.placing.made(pull.maker, pull.output, pull.tensor)
        often = pull.count - pull.early or -pull.count
        size = pull.tensor.bytes
        fields = {"device": lies.at, "kind": pull.kind, "loc": pull.loc, "bytes": size, "basis": "estimated"}
        self._key("sync", fields, often)
        if lies.at == HOST:
            return
        maker = self.flow.records[pull.maker]
        hop = hop_fields(
            lies.device,
            HOST,
            **_about(pull.tensor),
            op="Python",
            loc=pull.loc,
            producer=self._label(maker),
            producer_op="Call" if maker.function else maker.op,
            producer_loc=maker.loc,
            consumers=[pull.kind],
            kind="pull",
            producer_requested=maker.requested,
            facts={"sync": pull.kind},
        )
        self._hop(hop, often, (self.placing.places[pull.maker],))

    def _lacks(self, prefix: str, op: str, place: Place | None) -> dict[str, Any]:
        """The evidence that there is no kernel where the op would have run, or that it runs rather here."""
        if place is not None and place.device == HOST != self.machine.default and place.rule == "default":
            return {f"{prefix}preferred_on_host": True}
        if place is None or place.lacking is None:
            return {}
        if place.lacking_by_default and of_the_host(op):
            # What an input pipeline makes has a cause of its own.
            theirs = not prefix or "PyFunc" in op
            return {f"{prefix}colocated_with": "what works on the host"} if theirs else {}
        source = self.machine.table.source
        return {f"{prefix}no_kernel": place.lacking.words, f"{prefix}kernel_from": source}

    # -- keys ------------------------------------------------------------------------------------------------

    def _op_key(
        self, op: str, device: str, requested: str, loc: int, forward: int, often: int | None
    ) -> None:
        fields = {"op": op, "device": device, "requested": requested, "loc": loc, "forward_loc": forward}
        self._key("op", fields, often)

    def _hop(self, fields: dict[str, Any], often: int | None, places: tuple[Place, ...]) -> Key:
        if fields["bytes"] is None:
            fields["basis"] = "unknown"
        key = self._key("hop", fields, often)
        self.rules[key.id] = places
        return key

    def _key(self, kind: str, fields: dict[str, Any], often: int | None) -> Key:
        # What happened in the first step only is counted whole, as less than every step.
        count = None if often is None else 1 if often < 0 else often
        key = Key(len(self.keys) + 1, kind, fields, count)
        self.keys.append(key)
        return key


def _often(record: Record) -> int:
    """How often in the steps after the first; below 0 where only up to the end of that."""
    return record.count - record.early or -record.count


def _about(tensor: Tensor) -> dict[str, Any]:
    shape: Iterable[Any] = ("?",) if tensor.shape is None else ("?" if d is None else d for d in tensor.shape)
    return {"size": tensor.bytes, "dtype": tensor.dtype, "shape": tuple(shape)}


def lacking(placing: Placing) -> Iterator[tuple[str, int, Place]]:
    """(op, line, place) of everything that would have run on a GPU, had it a kernel there."""
    for record in placing.flow.records:
        place = placing.places.get(record.number)
        if not record.function and place is not None and _wanted(record.op, place):
            yield record.op, record.loc, place
    for number, placed in placing.functions.items():
        for one, place in placed.places.items():
            if _wanted(placed.ops[one].op, place):
                yield placed.ops[one].op, placed.ops[one].loc or placing.flow.records[number].loc, place


def _wanted(op: str, place: Place) -> bool:
    return place.lacking is not None and not (place.lacking_by_default and of_the_host(op))
