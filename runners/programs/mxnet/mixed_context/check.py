"""The check of the claim of mx-mixed-context."""

from __future__ import annotations

from collections.abc import Mapping

from runners.device_names import is_gpu
from runners.programs.evidence import Shown, between, hops, judged, ops, size, times
from runners.programs.verdicts import Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """On CPU contexts the op reads the other input where it is: no copy is made."""
    found = []
    for one in shown.values():
        found += one.said
        if not ops(one) or len(one.devices) != 2 or any(map(is_gpu, one.devices)):
            continue
        here, there = one.devices
        crossed = [*between(hops(one), here, there), *between(hops(one), there, here)]
        measured = (
            f"the recorder saw {times(crossed)} copies between {here} and {there}, {size(crossed):,} bytes: "
            "CPU contexts share the host's memory, so nothing stops an op from reading across them"
        )
        found.append(judged(not crossed, measured))
    return found
