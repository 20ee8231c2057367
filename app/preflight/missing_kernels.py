"""The ops of a foreseen run that no GPU has a kernel for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from app.preflight.inlined_functions import Op
from app.preflight.op_flow import PYTHON, Flow, Record, Tensor
from app.preflight.op_places import Placing
from app.preflight.placer import Place
from app.preflight.trace_keys import often
from app.preflight.trust import confidence
from probes.tf.kernel_table import of_the_host


@dataclasses.dataclass(frozen=True)
class Fallen:
    """One op that would have run on a GPU, had it a kernel there."""

    op: str
    loc: int
    place: Place
    asked: str
    """The GPU that the code asks for, of the op itself or of the function's call; '' where it names none."""
    tensors: tuple[Tensor, ...]
    """What it takes and makes."""
    times: int | None
    """In the steps after the first, below 0 for before; None for what stands in a branch."""


def lacking_rows(placing: Placing, same: bool) -> Iterable[dict[str, Any]]:
    """A row a type and line; `same`: the kernel table is of the script's own TensorFlow."""
    sites = placing.flow.sites
    rows: dict[tuple[str, int, str], dict[str, Any]] = {}
    for one in fallen(placing):
        words = one.place.lacking.words if one.place.lacking else ""
        identity = (one.op, one.loc, words)
        if identity not in rows:
            trust, why = confidence([one.place], same)
            rows[identity] = {
                "op": one.op,
                "site": sites[one.loc][0] if one.loc in sites else None,
                "runs_on": one.place.device,
                "kernel": words,
                "from": placing.machine.table.source,
                "confidence": trust,
                "why": why,
                "ops": 0,
            }
        rows[identity]["ops"] += 1
    return rows.values()


def rounds_of(flow: Flow) -> int:
    """How often "every step" is: steps, or of a script without any the calls of its busiest function."""
    return flow.steps or max((record.count for record in flow.records if record.function), default=0)


def fallen(placing: Placing) -> Iterator[Fallen]:
    """Everything that would have run on a GPU, had it a kernel there."""
    machine = placing.machine
    for record in placing.flow.records:
        place = placing.places.get(record.number)
        if not record.function and place is not None and _wanted(record.op, place):
            asked = "" if place.lacking_by_default else record.requested
            taken = (one.tensor for one in record.inputs)
            yield Fallen(record.op, record.loc, place, asked, (*taken, *record.outputs), often(record))
    for number, placed in placing.functions.items():
        call = placing.flow.records[number]
        caller = call.requested if machine.kind(call.requested) == "GPU" else ""
        for one, place in placed.places.items():
            op = placed.ops[one]
            if _wanted(op.op, place):
                asked = caller if place.lacking_by_default and not op.requested else op.requested
                times = None if op.within == "branch" else often(call)
                tensors = (*_taken(op, call, placed.ops), *op.outputs)
                yield Fallen(op.op, op.loc or call.loc, place, asked, tensors, times)


def _taken(op: Op, call: Record, ops: Sequence[Op]) -> Iterator[Tensor]:
    for number, output in op.inputs:
        if number >= 0:
            yield from ops[number].outputs[output : output + 1]
        else:
            yield from (one.tensor for one in call.inputs if one.slot == PYTHON - number)


def _wanted(op: str, place: Place) -> bool:
    return place.lacking is not None and not (place.lacking_by_default and of_the_host(op))
