"""The transfers of a foreseen run, as the recorder would have noted them: keys for the ordinary analysis."""

from __future__ import annotations

from typing import Any

from app.preflight.dialects.tensorflow.function_calls import Call
from app.preflight.dialects.tensorflow.op_flow import HANDLES, PYTHON, Pull, Record, Taken
from app.preflight.dialects.tensorflow.op_places import CONSTANT, Lies, Placing
from app.preflight.dialects.tensorflow.placer import HOST, Place
from app.preflight.dialects.tensorflow.trace_keys import Keys, often
from app.preflight.dialects.tensorflow.transfer_origins import Origins, resource_of


def crossings(placing: Placing) -> Keys:
    """All ops, transfers and waits of one process."""
    keys, origins = Keys(), Origins(placing)
    eager = _Eager(origins, keys)
    for record in placing.flow.records:
        placed = placing.functions.get(record.number)
        if placed is not None:
            Call(record, placed, origins, keys).note()
        elif not record.function:
            eager.op(record)
    for pull in placing.flow.pulls:
        eager.pull(pull)
    return keys


class _Eager:
    """What crosses outside of functions, and where Python waits for values there."""

    def __init__(self, origins: Origins, keys: Keys) -> None:
        self._placing = origins.placing
        self._records = origins.placing.flow.records
        self._origins = origins
        self._keys = keys

    def op(self, record: Record) -> None:
        """Note an op, and what it takes from elsewhere."""
        place = self._placing.places[record.number]
        self._keys.op(record, place.device, record.loc, often(record))
        if record.op == CONSTANT and place.device != HOST:
            made = self._origins.made_by(PYTHON, record.loc)
            tensor, device = record.outputs[0], place.device
            self._keys.hop(
                tensor, Lies(HOST, HOST), device, device, often(record), [place], **made,
                op="Const", loc=record.loc, kind="upload", requested=record.requested,
            )  # fmt: skip
        on_host = self._placing.machine.on_host(place, record.types)
        sent: set[tuple[int, int, str, tuple[int, ...]]] = set()
        for one in record.inputs:
            if one.tensor.dtype in HANDLES or one.tensor.dtype == "string":
                continue
            target = HOST if one.slot in on_host else place.device
            lies = self._placing.made(one.maker, one.output, one.tensor)
            scalar = one.maker == PYTHON and not one.tensor.shape
            if lies.at == target or one.tensor.bytes == 0 or scalar or self._there(one, target):
                continue
            # An op that takes a tensor twice gets it once.
            transfer = (one.maker, one.output, target, one.before)
            if transfer not in sent:
                sent.add(transfer)
                self._transfer(record, place, one, lies, target)

    def pull(self, pull: Pull) -> None:
        """Note a value that Python takes: it waits for it, and has it copied where it lies elsewhere."""
        lies, times = self._placing.made(pull.maker, pull.output, pull.tensor), often(pull)
        self._keys.sync(lies.at, pull.kind, pull.loc, pull.tensor.bytes, times)
        if lies.at != HOST:
            made = self._origins.made_by(pull.maker, pull.loc)
            self._keys.hop(
                pull.tensor, lies, HOST, HOST, times, [self._placing.places[pull.maker]], **made,
                op="Python", loc=pull.loc, consumers=[pull.kind], kind="pull", facts={"sync": pull.kind},
            )  # fmt: skip

    def _there(self, one: Taken, target: str) -> bool:
        """Whether an earlier op had the tensor copied to the same memory: TensorFlow keeps such copies."""
        places = ((number, self._placing.places.get(number)) for number in one.before)
        return any(
            place is not None and place.device == target and not self._records[number].function
            for number, place in places
        )

    def _transfer(self, record: Record, place: Place, one: Taken, lies: Lies, target: str) -> None:
        maker = self._records[one.maker] if one.maker != PYTHON else None
        placed = self._placing.places.get(one.maker)
        made = self._origins.made_by(one.maker, record.loc)
        facts: dict[str, Any] = self._origins.evidence(record, place, maker, placed)
        handle = resource_of(maker.inputs) if maker and maker.op == "ReadVariableOp" else PYTHON
        if variable := self._origins.name(handle):
            made["producer"] = variable
            facts |= {"variable": variable} | self._origins.created(handle)
        if place.rule == "resource":
            facts["colocated_with"] = self._origins.name(resource_of(record.inputs)) or "a resource"
        self._keys.hop(
            one.tensor, lies, place.device, target, often(one), [place, placed], **made,
            op=record.op, loc=record.loc, forward_loc=record.forward_loc,
            kind="copy" if maker else "upload", requested=record.requested, facts=facts,
        )  # fmt: skip
