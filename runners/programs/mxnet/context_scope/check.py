"""The check of the claim of mx-context-scope."""

from __future__ import annotations

from collections.abc import Mapping

from runners.device_names import is_host
from runners.programs.evidence import Shown, between, hops, judged, ops, pinned, size, times
from runners.programs.mxnet.evidence import HOST, is_as_asked, lines
from runners.programs.verdicts import Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Only ops in the block, or with ctx=, are on the device; Python's numbers are all that crosses."""
    found = []
    for one in shown.values():
        found += one.said
        rows, device = ops(one), pinned(one)
        if not rows or is_host(device):
            continue
        crossed = hops(one)
        given = [row for row in between(crossed, HOST, device) if row.get("cause") == "host-upload"]
        measured = (
            f"the recorder saw ops {lines(rows)}; of what crosses between devices {times(given)} of "
            f"{times(crossed)} copies, {size(given):,} bytes, are the numbers that nd.array was given"
        )
        found.append(judged(is_as_asked(rows) and len(given) == len(crossed), measured))
    return found
