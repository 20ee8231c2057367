"""The check of the claim of tf-pin-replica-gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from runners.programs.evidence import Shown, among_devices, hops, judged, size
from runners.programs.tensorflow.evidence import GRADIENT, HIDDEN, counted, even, gradients
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Each device has a backward pass of its own, as large as the others', and nothing crosses for it."""
    return [_apart(one) for one in shown.values()]


def _apart(one: Shown) -> Verdict:
    counts = Counter(str(row["assigned"]) for row in gradients(one))
    if not counts:
        return Verdict(UNTESTABLE, HIDDEN)
    between = among_devices(hops(one))
    moved = [row for row in hops(one) if row["cause"] == GRADIENT or row["forward_site"]]
    uploads = [row for row in hops(one) if row["cause"] == "host-upload"]
    measured = (
        f"the backward pass is on {counted(counts)}; {size(moved):,} bytes cross because of it and "
        f"{size(between):,} between the devices, beside {size(uploads):,} bytes in the whole run from Python"
    )
    return judged(even(one, counts) and not between and not moved, measured)
