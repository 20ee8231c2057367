"""What is known of a foreseen transfer's ends: names, variables' homes, and kernels that there are not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from app.preflight.dialects.tensorflow.op_flow import PYTHON, Op, Record, Taken
from app.preflight.dialects.tensorflow.op_places import CONSTANT, STAYS_ON_HOST, Placing
from app.preflight.dialects.tensorflow.placer import HOST, Place
from probes.tf.kernel_table import of_the_host


class Origins:
    """The facts of one process, as the recorder would have found them."""

    def __init__(self, placing: Placing) -> None:
        self.placing = placing
        self._records = placing.flow.records
        self._machine = placing.machine

    def made_by(self, maker: int, loc: int) -> dict[str, Any]:
        """What a hop's fields say of the record that made its tensor, or of Python's data at a line."""
        if maker == PYTHON:
            return {"producer": "", "producer_op": "Python", "producer_loc": loc, "producer_requested": ""}
        record = self._records[maker]
        function = self.placing.flow.functions.get(record.function)
        return {
            "producer": function.label if function else record.name or record.op,
            "producer_op": "Call" if record.function else record.op,
            "producer_loc": record.loc,
            "producer_requested": record.requested,
        }

    def argument(self, call: Record, slot: int) -> dict[str, Any]:
        """The same of what made an argument of a called function."""
        one = call.by_slot.get(slot)
        made = self.made_by(one.maker if one else PYTHON, call.loc)
        return made | ({"producer_op": "Const"} if made["producer_op"] == CONSTANT else {})

    def lay_on(self, call: Record, slot: int) -> str:
        """The device where an argument lay that is handed over in host memory for its type; '' for others."""
        one = call.by_slot.get(slot)
        if one is None or one.tensor.dtype not in STAYS_ON_HOST:
            return ""
        at = self.placing.made(one.maker, one.output, one.tensor).at
        return "" if at == HOST else at

    def name(self, handle: int) -> str:
        """The name of the variable that a record made; '' for PYTHON."""
        return self._records[handle].name if handle != PYTHON else ""

    def created(self, handle: int) -> dict[str, str]:
        """Where a variable was created, if it is for the scope there that it lives where it does."""
        made = self._records[handle] if handle != PYTHON else None
        site = self.placing.flow.sites.get(made.loc) if made is not None else None
        if made is None or site is None or made.requested != self.placing.home(handle):
            return {}
        return {"created_at": site[0], "created_in": made.requested}

    def evidence(self, op: Op, place: Place, maker: Op | None, made: Place | None) -> dict[str, Any]:
        """What both ends of a transfer lack, and the devices of their forward ops."""
        facts = self.lacks("", op.op, place)
        facts |= self.lacks("producer_", maker.op, made) if maker else {}
        for prefix, end in (("", op), ("producer_", maker)):
            if end is not None and end.forward_loc:
                facts[f"{prefix}forward_requested"] = end.forward_requested
        return facts

    def lacks(self, prefix: str, op: str, place: Place | None) -> dict[str, Any]:
        """The evidence that there is no kernel where the op would have run, or that it runs rather here."""
        if place is not None and place.device == HOST != self._machine.default and place.rule == "default":
            return {f"{prefix}preferred_on_host": True}
        if place is None or place.lacking is None:
            return self._host_only(prefix, op, place)
        if place.lacking_by_default and of_the_host(op):
            # What an input pipeline makes has a cause of its own.
            theirs = not prefix or "PyFunc" in op
            return {f"{prefix}colocated_with": "what works on the host"} if theirs else {}
        source = self._machine.table.source
        return {f"{prefix}no_kernel": place.lacking.words, f"{prefix}kernel_from": source}

    def _host_only(self, prefix: str, op: str, place: Place | None) -> dict[str, Any]:
        """That no GPU has a kernel of what the code asks for on the host."""
        asked = place is not None and place.device == HOST and place.rule in ("requested", "caller")
        if place is None or not asked or self._machine.default == HOST or of_the_host(op):
            return {}
        answer = self._machine.table.look_up(op, "GPU", dict(place.answer.types))
        return {f"{prefix}host_only": answer.words} if answer.missing else {}


def resource_of(inputs: Iterable[Taken | None]) -> int:
    """The record that made the first variable, or other resource, of what an op takes; PYTHON for none."""
    known = (one for one in inputs if one is not None and one.tensor.dtype == "resource")
    return next((one.maker for one in known if one.maker != PYTHON), PYTHON)
