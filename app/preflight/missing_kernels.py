"""The ops of a foreseen run that no GPU has a kernel for, and findings of those of which nothing crosses.

Where a tensor has to cross for such an op, the transfer tells. An int32 op's tensors lie in host memory even
on a GPU, so that of an int32 product on the host no transfer says anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from app.diagnosis.causes.no_kernel.cause import Evidence
from app.diagnosis.registry import advice
from app.judgments.finding import Finding
from app.preflight.op_flow import HANDLES, PYTHON, Flow, Node, Record, Tensor
from app.preflight.op_places import Placing
from app.preflight.placer import HOST, Place
from app.preflight.trace_keys import often
from app.preflight.trust import HIGH, confidence
from app.views import units
from app.views.naming import alone, some_of
from probes.tf.kernel_table import of_the_host

_LARGE = 4096
"""Bytes of a tensor from which on an op is more than arithmetic about extents."""
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D"})
"""Work that a GPU is there for, whatever the code asks for."""


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


def lacking_rows(placing: Placing, same: bool) -> list[dict[str, Any]]:
    """A row a type and line; `same`: the kernel table is of the script's own TensorFlow."""
    rows: dict[tuple[str, int, str], dict[str, Any]] = {}
    for one in fallen(placing):
        words = one.place.lacking.words if one.place.lacking else ""
        identity = (one.op, one.loc, words)
        if identity not in rows:
            trust, why = confidence([one.place], same)
            rows[identity] = {
                "op": one.op,
                "site": placing.flow.site(one.loc),
                "runs_on": one.place.device,
                "kernel": words,
                "from": placing.machine.table.source,
                "confidence": trust,
                "why": why,
                "ops": 0,
            }
        rows[identity]["ops"] += 1
    return list(rows.values())


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


def _taken(op: Node, call: Record, ops: Sequence[Node]) -> Iterator[Tensor]:
    for number, output in op.inputs:
        if number >= 0:
            yield from ops[number].outputs[output : output + 1]
        else:
            yield from (one.tensor for one in call.inputs if one.slot == PYTHON - number)


def _wanted(op: str, place: Place) -> bool:
    return place.lacking is not None and not (place.lacking_by_default and of_the_host(op))


@dataclasses.dataclass(frozen=True)
class FallenFinding:
    """A finding, and by which rules its ops are where they are."""

    finding: Finding
    places: tuple[Place, ...]


def fallen_findings(placing: Placing, same: bool, told: Iterable[Finding]) -> list[FallenFinding]:
    """A finding a line, but where a transfer's finding among those `told` says it."""
    rounds = rounds_of(placing.flow)
    known = {one.site for one in told if one.code == "no-kernel" and one.severity != "info"}
    lines: dict[str, list[Fallen]] = {}
    for one in fallen(placing):
        site, via = placing.flow.sites.get(one.loc, ("", None))
        own = not (via or "").startswith("keras/")  # what a layer does inside, nobody mends at its line
        if site and own and site not in known and _wrong(one, rounds, same):
            lines.setdefault(site, []).append(one)
    return [_finding(site, ops, placing) for site, ops in lines.items()]


def _wrong(one: Fallen, rounds: int, same: bool) -> bool:
    """Whether somebody would change it: work of some size in every step that was meant for a GPU."""
    types = {tensor.dtype for tensor in one.tensors}
    if "string" in types or types & HANDLES:
        return False  # text is nowhere but in the host's memory, and a table or variable has a place
    recurs = rounds > 1 and one.times is not None and one.times >= rounds
    large = any((tensor.bytes or 0) >= _LARGE for tensor in one.tensors)
    meant = bool(one.asked) or one.op in _PRODUCTS
    return recurs and large and meant and confidence([one.place], same)[0] == HIGH


def _finding(site: str, ops: list[Fallen], placing: Placing) -> FallenFinding:
    kernels = list(dict.fromkeys(one.place.lacking.words for one in ops if one.place.lacking))
    asked = list(dict.fromkeys(one.asked for one in ops if one.asked))
    names = some_of((one.op for one in ops), "ops")
    size = max(tensor.bytes or 0 for one in ops for tensor in one.tensors)
    for_what = f", though the code asks for {some_of(asked, 'devices')}" if asked else ""
    finds, runs = ("find", "run") if len({one.op for one in ops}) > 1 else ("finds", "runs")
    word = "step" if placing.flow.steps else "call"
    summary = (
        f"{names} at {site} {finds} no GPU kernel ({'; '.join(kernels)}) and {runs} on the host each"
        f" {word}{for_what}; the largest tensor of it has {units.size(size)}."
    )
    evidence = Evidence(
        requested=alone(asked), assigned=HOST, kernel=alone(kernels), kernels_of=placing.machine.table.source
    )
    change = advice("no-kernel", evidence)
    found = Finding("no-kernel", "warning", site, summary, evidence, change, (), recurs=True)
    return FallenFinding(found, tuple(one.place for one in ops))
