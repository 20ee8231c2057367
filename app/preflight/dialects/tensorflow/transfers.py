"""The transfers of a predicted run, as the recorder would have noted them: keys for the ordinary analysis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from app.preflight.dialects.tensorflow.op_places import (
    CONSTANT,
    STAYS_ON_HOST,
    Lies,
    PlacedFunction,
    Placing,
    often,
)
from app.preflight.dialects.tensorflow.placer import HANDED_OVER, Place
from probes.tf.kernel_table import of_the_host
from probes.trace.hop import HOST, IN_GRAPH, HopConsumer, HopProducer, HopTensor, hop_key
from probes.trace.preflight_notes import HANDLES, PYTHON, Node, Op, Pull, Record, Source, Taken, Tensor
from probes.trace.rows import Key

_PLUMBING = frozenset({"Identity", "Merge", "IdentityN", "StopGradient"})
_FOLDED = frozenset({"Const", "Shape", "Size", "Rank"})
"""Made at compile time, so small ones of them are where they are needed."""
_SMALL = 64
IN_PYTHON = frozenset({"PyFunc", "PyFuncStateless"})
"""Hand their inputs to Python as numpy arrays. (EagerPyFunc hands over tensors: what is read is seen.)"""


class Transfers:
    """All ops, transfers and waits of one process, as keys that are numbered in their order."""

    def __init__(self, placing: Placing) -> None:
        self.keys: list[Key] = []
        self.rules: dict[int, tuple[Place, ...]] = {}
        """By the id of a transfer's key: by which rules consumer and producer were placed."""
        self.early: dict[int, int] = {}
        """By the id of the key of what was over with the first step: how often it happened."""
        self.placing = placing
        self.records = placing.flow.records
        for record in self.records:
            placed = placing.functions.get(record.number)
            if placed is not None:
                _Call(self, record, placed).note()
            elif not record.function:
                self._eager(record)
        for pull in placing.flow.pulls:
            self._pull(pull)

    # -- keys ------------------------------------------------------------------------------------------------

    def op(self, op: Op, device: str, loc: int, times: int | None) -> None:
        """Note an op that runs; `times` as `often` has it, None where that is not known, like below."""
        fields = {"op": op.op, "device": device, "requested": op.requested}
        self._key("op", fields | {"loc": loc, "forward_loc": op.forward.loc}, times)

    def hop(
        self,
        tensor: Tensor,
        lies: Lies,
        device: str,
        memory: str,
        times: int | None,
        places: Sequence[Place | None],
        **given: Any,
    ) -> dict[str, Any]:
        """Note a tensor that goes to a memory for an op on a device; the rest of its fields are `given`.

        `places` are the consumer's and the producer's, None for one that has none. The fields are returned.
        """
        extents: Iterable[Any] = ("?",) if tensor.shape is None else tensor.shape
        producer = HopProducer(
            lies.device,
            given["producer_op"],
            given["producer_loc"],
            given["producer"],
            given["producer_requested"],
            "host" if lies.at == HOST else "",
        )
        consumer = HopConsumer(
            device,
            given["op"],
            given["loc"],
            given.get("requested", ""),
            given.get("forward_loc", 0),
            given.get("consumers", ()),
            "host" if memory == HOST else "",
        )
        shape: Sequence[Any] = ["?" if extent is None else extent for extent in extents]
        moved = HopTensor(
            tensor.bytes, tensor.dtype, shape, "unknown" if tensor.bytes is None else "estimated"
        )
        # As a plain dict: a reader's fields are open.
        fields = {**hop_key(producer, consumer, moved, given["kind"], facts=given.get("facts"))}
        key = self._key("hop", fields, times)
        self.rules[key.id] = tuple(place for place in places if place is not None)
        return fields

    def read(
        self,
        tensor: Tensor,
        lies: Lies,
        kind: str,
        loc: int,
        times: int | None,
        *places: Place | None,
        **made: Any,
    ) -> None:
        """Note a value that Python reads from elsewhere."""
        self.hop(
            tensor, lies, HOST, HOST, times, places, **made,
            op="Python", loc=loc, consumers=[kind], kind="pull", facts={"sync": kind},
        )  # fmt: skip

    def sync(self, device: str, kind: str, loc: int, size: int | None, times: int | None) -> None:
        """Note a wait of Python's for a value of `size` bytes."""
        fields = {"device": device, "kind": kind, "loc": loc, "bytes": size, "basis": "estimated"}
        self._key("sync", fields, times)

    def _key(self, kind: str, fields: dict[str, Any], times: int | None) -> Key:
        # What was over with the first step counts as once, which is less than every step.
        count = None if times is None else 1 if times < 0 else times
        key = Key(len(self.keys) + 1, kind, fields, count)
        self.keys.append(key)
        if times is not None and times < 0:
            self.early[key.id] = -times
        return key

    # -- outside of functions --------------------------------------------------------------------------------

    def _eager(self, record: Record) -> None:
        """Note an op, and what it takes from elsewhere."""
        place = self.placing.places[record.number]
        self.op(record, place.device, record.loc, often(record))
        if record.op == CONSTANT and place.device != HOST:
            made = self.made_by(PYTHON, record.loc)
            tensor, device = record.outputs[0], place.device
            self.hop(
                tensor, Lies(HOST, HOST), device, device, often(record), [place], **made,
                op="Const", loc=record.loc, kind="upload", requested=record.requested,
            )  # fmt: skip
        on_host = self.placing.machine.on_host(place, record.types)
        sent: set[tuple[int, int, str, tuple[int, ...]]] = set()
        for one in record.inputs:
            if not _is_sent(one.tensor):
                continue
            target = HOST if one.slot in on_host else place.device
            lies = self.placing.made(one.maker, one.output, one.tensor)
            scalar = one.maker == PYTHON and not one.tensor.shape
            if lies.at == target or one.tensor.bytes == 0 or scalar or self._there(one, target):
                continue
            # An op that takes a tensor twice gets it once.
            transfer = (one.maker, one.output, target, one.before)
            if transfer not in sent:
                sent.add(transfer)
                self._eager_transfer(record, place, one, lies, target)

    def _pull(self, pull: Pull) -> None:
        """Note a host read: Python waits for the value, and has it copied where it lies elsewhere."""
        maker, output = pull.made
        lies, times = self.placing.made(maker, output, pull.tensor), often(pull)
        self.sync(lies.at, pull.kind, pull.loc, pull.tensor.bytes, times)
        if lies.at != HOST:
            made = self.made_by(maker, pull.loc)
            self.read(pull.tensor, lies, pull.kind, pull.loc, times, self.placing.places[maker], **made)

    def _there(self, one: Taken, target: str) -> bool:
        """Whether an earlier op had the tensor copied to the same memory: TensorFlow keeps such copies."""
        places = ((number, self.placing.places.get(number)) for number in one.before)
        return any(
            place is not None and place.device == target and not self.records[number].function
            for number, place in places
        )

    def _eager_transfer(self, record: Record, place: Place, one: Taken, lies: Lies, target: str) -> None:
        maker = self.records[one.maker] if one.maker != PYTHON else None
        placed = self.placing.places.get(one.maker)
        made = self.made_by(one.maker, record.loc)
        facts = self.evidence(record, place, maker, placed, resource_of(record.inputs))
        handle = resource_of(maker.inputs) if maker and maker.op == "ReadVariableOp" else PYTHON
        if variable := self.name(handle):
            made["producer"] = variable
            facts |= {"variable": variable} | self.created(handle)
        self.hop(
            one.tensor, lies, place.device, target, often(one), [place, placed], **made,
            op=record.op, loc=record.loc, forward_loc=record.forward.loc,
            kind="copy" if maker else "upload", requested=record.requested, facts=facts,
        )  # fmt: skip

    # -- what is known of a transfer's ends ------------------------------------------------------------------

    def made_by(self, maker: int, loc: int) -> dict[str, Any]:
        """What a hop's fields say of the record that made its tensor, or of Python's data at a line."""
        if maker == PYTHON:
            return {"producer": "", "producer_op": "Python", "producer_loc": loc, "producer_requested": ""}
        record = self.records[maker]
        function = self.placing.flow.functions.get(record.function)
        return {
            "producer": function.label if function else record.name or record.op,
            "producer_op": "Call" if record.function else record.op,
            "producer_loc": record.loc,
            "producer_requested": record.requested,
        }

    def name(self, handle: int) -> str:
        """The name of the variable that a record made; '' for PYTHON."""
        return self.records[handle].name if handle != PYTHON else ""

    def created(self, handle: int) -> dict[str, str]:
        """Where a variable was created, if it is for the scope there that it lives where it does."""
        made = self.records[handle] if handle != PYTHON else None
        site = self.placing.flow.site(made.loc) if made is not None else None
        if made is None or site is None or made.requested != self.placing.home(handle):
            return {}
        return {"created_at": site, "created_in": made.requested}

    def evidence(
        self, op: Op, place: Place, maker: Op | None, made: Place | None, works_on: int
    ) -> dict[str, Any]:
        """What both ends of a transfer lack, the devices of their forward ops, and what binds the consumer.

        `works_on` is the record of the resource that the consumer takes.
        """
        facts = self.lacks("", op.op, place)
        facts |= self.lacks("producer_", maker.op, made) if maker else {}
        for prefix, end in (("", op), ("producer_", maker)):
            if end is not None and end.forward.loc:
                facts[f"{prefix}forward_requested"] = end.forward.requested
        if place.rule == "resource":
            facts["colocated_with"] = self.name(works_on) or "a resource"
        return facts

    def lacks(self, prefix: str, op: str, place: Place | None) -> dict[str, Any]:
        """The evidence that there is no kernel where the op would have run, or that it runs rather here."""
        machine = self.placing.machine
        if place is not None and place.device == HOST != machine.default and place.rule == "default":
            return {f"{prefix}preferred_on_host": True}
        if place is None or place.lacking is None:
            return self.host_only(prefix, op, place)
        if place.lacking_by_default and of_the_host(op):
            # What an input pipeline makes has a cause of its own.
            theirs = not prefix or "PyFunc" in op
            return {f"{prefix}colocated_with": "what works on the host"} if theirs else {}
        return {f"{prefix}no_kernel": place.lacking.words, f"{prefix}kernel_from": machine.table.source}

    def host_only(self, prefix: str, op: str, place: Place | None) -> dict[str, Any]:
        """That no GPU has a kernel of what the code asks for on the host."""
        machine = self.placing.machine
        asked = place is not None and place.device == HOST and place.rule in ("requested", "caller")
        if place is None or not asked or machine.default == HOST or of_the_host(op):
            return {}
        answer = machine.table.look_up(op, "GPU", dict(place.answer.types))
        return {f"{prefix}host_only": answer.words} if answer.missing else {}


class _Call:
    """What crosses inside of a function that is called from one line, in each of the calls."""

    def __init__(self, transfers: Transfers, record: Record, placed: PlacedFunction) -> None:
        self._to = transfers
        self._record = record
        self._places = placed.places
        self._ops = placed.ops
        self._lies = placed.lies

    def note(self) -> None:
        """Note its ops, and what they take from elsewhere."""
        sent: dict[tuple[Source, str, str], dict[str, Any]] = {}
        for number, place in self._places.items():
            op = self._ops[number]
            times = None if op.within else often(self._record)
            if op.op not in _PLUMBING:
                self._to.op(op, place.device, op.loc or self._record.loc, times)
            if op.op in IN_PYTHON:
                self._python(op, place, times)
                continue
            on_host = self._to.placing.machine.on_host(place, op.types)
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
        return (tensor if tensor is not None and _is_sent(tensor) else None), self._lies.get(source)

    def _python(self, op: Node, place: Place, times: int | None) -> None:
        """What Python code reads that the graph calls: it waits for each value, as for any host read."""
        loc, size = op.loc or self._record.loc, 0
        devices: dict[str, None] = {}
        for source in op.inputs:
            tensor, lies = self._value(source)
            if tensor is None or lies is None or lies.at == HOST:
                continue
            devices[lies.at] = None
            size += tensor.bytes or 0
            made, maker = self._made_by(source[0]), self._places.get(source[0])
            self._to.read(tensor, lies, IN_GRAPH, loc, times, place, maker, **made)
        for device in devices:
            self._to.sync(device, IN_GRAPH, loc, size, times)

    def _made_by(self, number: int) -> dict[str, Any]:
        """What a hop's fields say of what made a value, an argument as -1 - number."""
        if number < 0:
            one = self._record.by_slot.get(-1 - number)
            by = self._to.made_by(one.maker if one else PYTHON, self._record.loc)
            return by | ({"producer_op": "Const"} if by["producer_op"] == CONSTANT else {})
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
        facts = self._to.evidence(op, place, maker, made, self._handle_of(op))
        if op.op in _PLUMBING:
            facts |= self._handed_to(consumer) | {"rewritten": True}
        if maker is None:
            if lay := self._lay_on(-1 - number):
                facts["argument_lay_on"] = lay
                made = HANDED_OVER
        elif (real := self._real_number(number)) != number:
            facts |= self._only_on_host("producer_", real)
            if lies.at == HOST:
                facts["kept_by_kernel_of"] = maker.op  # plumbing too has kernels with a memory of their own
        elif maker.op == "ReadVariableOp":
            handle = self._handle_of(maker)
            facts["variable"] = self._to.name(handle) or maker.name
            facts |= self._to.created(handle)
        return self._to.hop(
            tensor, lies, place.device, target, times, [place, made], **self._made_by(number),
            op=op.op, loc=op.loc or self._record.loc,
            forward_loc=op.forward.loc or (maker.forward.loc if maker else 0), consumers=[op.name],
            kind="copy" if maker else "arg", requested=op.requested, facts=facts,
        )  # fmt: skip

    def _lay_on(self, slot: int) -> str:
        """The device where an argument lay that is handed over in host memory for its type; '' for others."""
        one = self._record.by_slot.get(slot)
        if one is None or one.tensor.dtype not in STAYS_ON_HOST:
            return ""
        at = self._to.placing.made(one.maker, one.output, one.tensor).at
        return "" if at == HOST else at

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
        facts = self._to.lacks(prefix, self._ops[number].op, self._places.get(number))
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


def _is_sent(tensor: Tensor) -> bool:
    return tensor.dtype not in HANDLES and tensor.dtype != "string"


def resource_of(inputs: Iterable[Taken | None]) -> int:
    """The record that made the first variable, or other resource, of what an op takes; PYTHON for none."""
    known = (one for one in inputs if one is not None and one.tensor.dtype == "resource")
    return next((one.maker for one in known if one.maker != PYTHON), PYTHON)
