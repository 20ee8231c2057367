"""The check of the claim of mx-module."""

from __future__ import annotations

from collections.abc import Mapping

from runners.device_names import is_host
from runners.programs.evidence import Shown, between, hops, join, judged, ops, pinned, size, times
from runners.programs.mxnet.evidence import HOST, is_training, via
from runners.programs.verdicts import Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """The symbol and its update run on the one device; each step sends a batch and reads the outputs."""
    found = []
    for one in shown.values():
        found += one.said
        device, steps = pinned(one), one.report.get("steps")
        rows = [row for row in ops(one) if row.get("function") or is_training(str(row["type"]))]
        if not rows or not steps or is_host(device):
            continue
        homes = sorted({str(row["assigned"]) for row in rows})
        # Once each are the weights, at the beginning and the end.
        fit = [row for row in hops(one) if via(row, "fit")]
        read = [row for row in between(fit, device, HOST) if row.get("cause") == "host-sync"]
        sent = [row for row in between(fit, HOST, device) if row.get("count") == steps]
        measured = (
            f"the recorder saw all {len(rows)} ops of the symbol, its gradients and the update run on "
            f"{join(homes)}; in each of {steps} steps {size(sent) // steps:,} bytes went from {HOST} to "
            f"{device}, and fit's metric read {size(read) // steps:,} bytes of outputs, {times(read)} times"
        )
        found.append(judged(homes == [device] and times(read) == steps, measured))
    return found
