"""What is known of a foreseen transfer's ends: names, variables' homes, and kernels that there are not."""

from __future__ import annotations

from typing import Any

from app.preflight.inlined_functions import Op
from app.preflight.op_flow import PYTHON, Flow, Record
from app.preflight.op_places import CONSTANT, STAYS_ON_HOST, Placing
from app.preflight.placer import HOST, Machine, Place
from probes.tf.kernel_table import of_the_host


class Origins:
    """The facts of one process, as the recorder would have found them."""

    def __init__(self, placing: Placing) -> None:
        self._placing = placing
        self._flow: Flow = placing.flow
        self._machine: Machine = placing.machine

    def label(self, record: Record) -> str:
        """What a record is called: its function, or the variable that it is, else its op."""
        function = self._flow.functions.get(record.function)
        return function.label if function else record.name or record.op

    def kind(self, record: Record) -> str:
        """Its op; ``Call`` for a function's."""
        return "Call" if record.function else record.op

    def name(self, handle: int) -> str:
        """The name of the variable that a record made; '' for PYTHON."""
        return self._flow.records[handle].name if handle != PYTHON else ""

    def created(self, handle: int) -> dict[str, str]:
        """Where a variable was created, if it is for the scope there that it lives where it does."""
        made = self._flow.records[handle] if handle != PYTHON else None
        site = self._flow.sites.get(made.loc) if made is not None else None
        if made is None or site is None or made.requested != self._placing.home(handle):
            return {}
        return {"created_at": site[0], "created_in": made.requested}

    def resource(self, record: Record) -> str:
        """The variable, or other resource, that a record works on."""
        makers = (
            one.maker for one in record.inputs if one.tensor.dtype == "resource" and one.maker != PYTHON
        )
        return next((self.name(maker) for maker in makers), "") or "a resource"

    def argument(self, call: Record, slot: int) -> tuple[str, str, int, str]:
        """What a called function's argument was made by: label, op, line, requested device."""
        one = next((one for one in call.inputs if one.slot == slot), None)
        if one is None or one.maker == PYTHON:
            return "", "Python", call.loc, ""
        maker = self._flow.records[one.maker]
        op = "Const" if maker.op == CONSTANT else self.kind(maker)
        return self.label(maker), op, maker.loc, maker.requested

    def lay_on(self, call: Record, slot: int) -> str:
        """The device where an argument lay that is handed over in host memory for its type; '' for others."""
        one = next((one for one in call.inputs if one.slot == slot), None)
        if one is None or one.maker == PYTHON or one.tensor.dtype not in STAYS_ON_HOST:
            return ""
        at = self._placing.made(one.maker, one.output, one.tensor).at
        return "" if at == HOST else at

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


def handle_of(call: Record, op: Op) -> int:
    """The record that made the variable, or other resource, that an op of the called function takes."""
    for source, _ in op.inputs:
        handle = next((one for one in call.inputs if one.slot == -1 - source), None)
        if handle is not None and handle.tensor.dtype == "resource" and handle.maker != PYTHON:
            return handle.maker
    return PYTHON
