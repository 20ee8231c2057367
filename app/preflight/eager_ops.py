"""What crosses outside of functions on a foreseen machine, and where Python waits for values there."""

from __future__ import annotations

from typing import Any

from app.preflight.op_flow import HANDLES, PYTHON, Flow, Pull, Record, Taken
from app.preflight.op_places import CONSTANT, Lies, Placing
from app.preflight.placer import HOST, Machine, Place
from app.preflight.trace_keys import Keys, about, often
from app.preflight.transfer_origins import Origins
from probes.trace.hop import hop_fields


class Eager:
    """The ops that Python runs one by one."""

    def __init__(self, placing: Placing, origins: Origins, keys: Keys) -> None:
        self._placing = placing
        self._flow: Flow = placing.flow
        self._machine: Machine = placing.machine
        self._origins = origins
        self._keys = keys

    def op(self, record: Record) -> None:
        """Note an op, and what it takes from elsewhere."""
        place = self._placing.places[record.number]
        times = often(record)
        self._keys.op(record.op, place.device, record.requested, record.loc, record.forward_loc, times)
        if record.op == CONSTANT and place.device != HOST:
            tensor = record.outputs[0]
            fields = hop_fields(HOST, place.device, **about(tensor), op="Const", loc=record.loc,
                                producer="", producer_op="Python", producer_loc=record.loc, kind="upload",
                                requested=record.requested)  # fmt: skip
            self._keys.hop(fields, times, place)
        on_host = self._machine.on_host(place, record.types)
        sent: set[tuple[int, int, str, tuple[int, ...]]] = set()
        for one in record.inputs:
            if one.tensor.dtype in HANDLES or one.tensor.dtype == "string":
                continue
            target = HOST if one.slot in on_host else place.device
            lies = self._placing.made(one.maker, one.output, one.tensor)
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
                self._transfer(record, place, one, lies, target)

    def pull(self, pull: Pull) -> None:
        """Note a value that Python takes: it waits for it, and has it copied where it lies elsewhere."""
        lies = self._placing.made(pull.maker, pull.output, pull.tensor)
        times = often(pull)
        self._keys.sync(lies.at, pull.kind, pull.loc, pull.tensor.bytes, times)
        if lies.at == HOST:
            return
        maker = self._flow.records[pull.maker]
        fields = hop_fields(
            lies.device,
            HOST,
            **about(pull.tensor),
            op="Python",
            loc=pull.loc,
            producer=self._origins.label(maker),
            producer_op=self._origins.kind(maker),
            producer_loc=maker.loc,
            consumers=[pull.kind],
            kind="pull",
            producer_requested=maker.requested,
            facts={"sync": pull.kind},
        )
        self._keys.hop(fields, times, self._placing.places[pull.maker])

    def _there(self, one: Taken, target: str) -> bool:
        """Whether an earlier op had the tensor copied to the same memory: TensorFlow keeps such copies."""
        for number in one.before:
            if number >= len(self._flow.records):
                continue
            place = self._placing.places.get(number)
            if place is not None and place.device == target and not self._flow.records[number].function:
                return True
        return False

    def _transfer(self, record: Record, place: Place, one: Taken, lies: Lies, target: str) -> None:
        maker = self._flow.records[one.maker] if one.maker != PYTHON else None
        made = self._placing.places.get(one.maker)
        facts: dict[str, Any] = {}
        if record.forward_loc:
            facts["forward_requested"] = record.forward_requested
        if maker is not None and maker.forward_loc:
            facts["producer_forward_requested"] = maker.forward_requested
        facts |= self._origins.lacks("", record.op, place)
        facts |= self._origins.lacks("producer_", maker.op if maker else "", made)
        handle = _read_variable(maker)
        variable = self._origins.name(handle)
        if variable:
            facts |= {"variable": variable} | self._origins.created(handle)
        if place.rule == "resource":
            facts["colocated_with"] = self._origins.resource(record)
        fields = hop_fields(
            lies.device,
            place.device,
            **about(one.tensor),
            op=record.op,
            loc=record.loc,
            producer=variable or (self._origins.label(maker) if maker else ""),
            producer_op=self._origins.kind(maker) if maker else "Python",
            producer_loc=maker.loc if maker else record.loc,
            forward_loc=record.forward_loc,
            kind="upload" if maker is None else "copy",
            requested=record.requested,
            producer_requested=maker.requested if maker else "",
            facts=facts,
            src_memory="host" if lies.at == HOST else "",
            dst_memory="host" if target == HOST else "",
        )
        self._keys.hop(fields, often(one), place, made)


def _read_variable(maker: Record | None) -> int:
    """The record that made the variable whose value this one reads; PYTHON where it reads none."""
    if maker is None or maker.op != "ReadVariableOp" or not maker.inputs:
        return PYTHON
    return maker.inputs[0].maker
