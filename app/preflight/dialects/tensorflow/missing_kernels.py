"""The ops of a foreseen run that no GPU has a kernel for, and findings of those of which nothing crosses.

Where a tensor has to cross for such an op, the transfer tells. An int32 op's tensors lie in host memory even
on a GPU, so that of an int32 product on the host no transfer says anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from app.diagnosis.causes.no_kernel.cause import Evidence
from app.diagnosis.registry import advice
from app.judgments.finding import Finding
from app.preflight.dialects.tensorflow.op_places import Placing, Ran
from app.preflight.dialects.tensorflow.placer import Machine, Place, confidence
from app.preflight.provenance import HIGH
from app.views import units
from app.views.naming import alone, some_of
from probes.tf.kernel_table import of_the_host
from probes.trace.hop import HOST
from probes.trace.preflight_notes import HANDLES, Flow

_LARGE = 4096
"""Bytes of a tensor from which on an op is more than arithmetic about extents."""
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D"})
"""Work that a GPU is there for, whatever the code asks for."""


def lacking_rows(placing: Placing, same: bool) -> list[dict[str, Any]]:
    """A row a type and line; `same`: the kernel table is of the script's own TensorFlow."""
    rows: dict[tuple[str, int, str], dict[str, Any]] = {}
    for one in fallen(placing):
        words = one.place.lacking.words if one.place.lacking else ""
        identity = (one.op.op, one.loc, words)
        if identity not in rows:
            trust, why = confidence([one.place], same)
            rows[identity] = {
                "op": one.op.op,
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


def fallen(placing: Placing) -> Iterator[Ran]:
    """Everything that would have run on a GPU, had it a kernel there."""
    for one in placing.ran():
        by_default = one.place.lacking_by_default and of_the_host(one.op.op)
        if one.place.lacking is not None and not by_default:
            yield one


def _asked(one: Ran, machine: Machine) -> str:
    """The GPU that the code asks for, of the op or of its function's call; '' where it names none."""
    if not one.place.lacking_by_default:
        return one.op.requested
    if one.op is one.call:
        return ""
    caller = one.call.requested if machine.kind(one.call.requested) == "GPU" else ""
    return one.op.requested or caller


def fallen_findings(
    placing: Placing, same: bool, told: Iterable[Finding]
) -> dict[str | None, tuple[Finding, list[Place]]]:
    """A finding a line, but where a transfer's finding among those `told` says it.

    By the line, with the places of its ops.
    """
    rounds = rounds_of(placing.flow)
    known = {one.site for one in told if one.code == "no-kernel" and one.severity != "info"}
    lines: dict[str | None, list[Ran]] = {}
    for one in fallen(placing):
        site, via = placing.flow.sites.get(one.loc, ("", None))
        own = not (via or "").startswith("keras/")  # what a layer does inside, nobody mends at its line
        if site and own and site not in known and _wrong(one, rounds, same, placing.machine):
            lines.setdefault(site, []).append(one)
    return {site: (_finding(site, ops, placing), [one.place for one in ops]) for site, ops in lines.items()}


def _wrong(one: Ran, rounds: int, same: bool, machine: Machine) -> bool:
    """Whether somebody would change it: work of some size in every step that was meant for a GPU."""
    types = {tensor.dtype for tensor in one.tensors}
    if "string" in types or types & HANDLES:
        return False  # text is nowhere but in the host's memory, and a table or variable has a place
    recurs = rounds > 1 and one.times is not None and one.times >= rounds
    large = any((tensor.bytes or 0) >= _LARGE for tensor in one.tensors)
    meant = bool(_asked(one, machine)) or one.op.op in _PRODUCTS
    return recurs and large and meant and confidence([one.place], same)[0] == HIGH


def _finding(site: str | None, ops: list[Ran], placing: Placing) -> Finding:
    kernels = list(dict.fromkeys(one.place.lacking.words for one in ops if one.place.lacking))
    asked = list(dict.fromkeys(filter(None, (_asked(one, placing.machine) for one in ops))))
    names = some_of((one.op.op for one in ops), "ops")
    size = max(tensor.bytes or 0 for one in ops for tensor in one.tensors)
    for_what = f", though the code asks for {some_of(asked, 'devices')}" if asked else ""
    finds, runs = ("find", "run") if len({one.op.op for one in ops}) > 1 else ("finds", "runs")
    word = "step" if placing.flow.steps else "call"
    summary = (
        f"{names} at {site} {finds} no GPU kernel ({'; '.join(kernels)}) and {runs} on the host each"
        f" {word}{for_what}; the largest tensor of it has {units.size(size)}."
    )
    evidence = Evidence(
        requested=alone(asked), assigned=HOST, kernel=alone(kernels), kernels_of=placing.machine.table.source
    )
    change = advice("no-kernel", evidence)
    return Finding("no-kernel", "warning", site, summary, evidence, change, (), recurs=True)
