"""The check of the claim of tf-mirrored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from runners.programs.evidence import (
    Row,
    Shown,
    among_devices,
    hops,
    join,
    judged,
    size,
)
from runners.programs.tensorflow.evidence import HIDDEN, counted, even, gradients
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Every replica has the training ops; gradients are summed in each step; their bytes by algorithm."""
    runs = list(shown.values())
    return [_replicated(runs), *(_summed(one) for one in runs), *_compared(runs)]


def _replicated(runs: list[Shown]) -> Verdict:
    """Whether the strategy placed the backward pass of each replica on its device, equal on all of them."""
    homes = [Counter(str(row["assigned"]) for row in gradients(one)) for one in runs]
    if not all(homes):
        return Verdict(UNTESTABLE, HIDDEN)
    alike = all(even(one, counts) for one, counts in zip(runs, homes, strict=True))
    told_of = dict.fromkeys(counted(counts) for counts in homes)
    return judged(
        alike,
        f"no device is named for a training op, and the backward pass is on {', or '.join(told_of)}",
    )


def _summed(one: Shown) -> Verdict:
    """Whether the gradients are summed over all replicas in each step, and what crosses for that."""
    asked, steps, row = one.options.get("cross-device-ops"), one.report.get("steps"), _exchange(one)
    if len(one.devices) < 2 or not steps:
        return Verdict(UNTESTABLE, f"cross-device-ops={asked}: it takes two replicas, and steps")
    if row is None:
        return judged(False, f"cross-device-ops={asked}: the recorder saw nothing summed over the devices")
    measured = (
        f"cross-device-ops={asked}: {row['payload_bytes']:,} bytes of gradients a replica are summed over "
        f"{join(row['devices'])} by {row['algorithm']}, for which {_crossing(one, row):,} bytes cross "
        f"between them, {row['count']} times in {steps} steps ({row['basis']})"
    )
    return judged(row["count"] == steps and set(row["devices"]) == set(one.devices), measured)


def _compared(runs: Iterable[Shown]) -> list[Verdict]:
    """Whether the algorithms move different amounts in all, where several sum equal gradients."""
    moved: dict[str, int] = {}
    for one in runs:
        row = _exchange(one)
        if row is not None and len(one.devices) > 1 and one.report.get("steps"):
            moved[str(row["algorithm"])] = _crossing(one, row)
    if len(moved) < 2:
        return []
    if len(set(moved.values())) > 1:
        amounts = join(f"{amount:,} with {name}" for name, amount in moved.items())
        return [judged(True, f"the bytes that cross in a step depend on the algorithm: {amounts}")]
    amount = next(iter(moved.values()))
    measured = (
        f"the bytes that cross in a step do not depend on the algorithm here: {join(moved)} each move "
        f"{amount:,} in all; they differ in which devices send them, and which sums"
    )
    return [judged(False, measured)]


def _exchange(one: Shown) -> Row | None:
    """The gradients' collective: the one with the largest payload."""
    rows = [row for row in one.report.get("collectives") or () if row["payload_bytes"]]
    return max(rows, key=lambda row: row["payload_bytes"], default=None)


def _crossing(one: Shown, row: Row) -> int:
    """The bytes that one execution moves; of one built from ordinary copies, what those move in a step."""
    if row["wire_bytes"] is not None:
        return int(row["wire_bytes"])
    copies = [hop for hop in among_devices(hops(one)) if hop["site"] == row["site"]]
    return size(hop for hop in copies if hop["cause"] == "collective") // int(one.report["steps"])
