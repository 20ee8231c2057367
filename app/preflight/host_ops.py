"""Findings of ops that run on the host for want of a GPU kernel, though nothing of theirs crosses.

Where a tensor has to cross for such an op, the transfer tells. An int32 op's tensors lie in host memory even
on a GPU, so that of an int32 product on the host no transfer says anything.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from app.diagnosis.registry import advice
from app.judgments.finding import Finding
from app.preflight.missing_kernels import Fallen, fallen, rounds_of
from app.preflight.op_flow import HANDLES
from app.preflight.op_places import Placing
from app.preflight.placer import HOST, Place
from app.preflight.trust import HIGH, confidence
from app.views import units
from app.views.naming import some_of

_LARGE = 4096
"""Bytes of a tensor from which on an op is more than arithmetic about extents."""
PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "Conv2D"})
"""Work that a GPU is there for, whatever the code asks for."""


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
    meant = bool(one.asked) or one.op in PRODUCTS
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
    evidence = {
        "requested": asked[0] if len(asked) == 1 else asked,
        "assigned": HOST,
        "kernel": kernels[0] if len(kernels) == 1 else kernels,
        "kernels_of": placing.machine.table.source,
    }
    change = advice("no-kernel", evidence)
    found = Finding("no-kernel", "warning", site, summary, evidence, change, (), recurs=True)
    return FallenFinding(found, tuple(one.place for one in ops))
