"""The check of the claim of mx-gluon-data-parallel."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runners.programs.evidence import Shown, among_devices, hops, join, judged, ops, times
from runners.programs.mxnet.evidence import HOST
from runners.programs.verdicts import Verdict

_SUMMED_ON = re.compile(r"summed on (\S+)")


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """local sums on the host, device on the devices, and without a kvstore nothing is summed at all."""
    found = []
    for one in shown.values():
        found += one.said
        kvstore, steps = str(one.options.get("kvstore")), one.report.get("steps")
        if not ops(one) or not steps:
            continue
        rows = list(one.report.get("collectives") or ())
        sites = sorted({site for row in rows for site in _SUMMED_ON.findall(str(row.get("algorithm")))})
        if kvstore == "none":
            crossed = among_devices(hops(one))
            measured = (
                f"without a kvstore the recorder saw {len(rows)} sums of gradients, and {times(crossed)} "
                f"copies between {join(one.devices)}"
            )
            found.append(judged(not rows and not crossed, measured))
            continue
        expected = {HOST} if kvstore == "local" else set(one.devices)
        crossing = sum((row.get("wire_bytes") or 0) * (row.get("count") or 1) for row in rows) // steps
        measured = (
            f"with kvstore {kvstore} the recorder saw gradients summed on {join(sites) or 'no device'}, for "
            f"which {crossing:,} bytes cross in a step"
        )
        found.append(judged(bool(sites) and set(sites) <= expected, measured))
    return found
