"""Checks of the TensorFlow programs that train replicas in one process: what they exchange."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from app.analysis.claims.recorded import Row, among_devices, hops, judged, ops, size, told
from app.analysis.claims.shown import Shown
from app.analysis.claims.tf_placement import GRADIENT, gradients
from app.analysis.devices import is_host
from app.views import units
from runners.programs.verdicts import UNTESTABLE, Verdict


def mirrored(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Every replica has the training ops; gradients are summed in each step; their bytes by algorithm."""
    runs = list(shown.values())
    return [_replicated(runs), *(_summed(one) for one in runs), *_compared(runs)]


def _replicated(runs: list[Shown]) -> Verdict:
    """Whether the strategy placed the backward pass of each replica on its device, equal on all of them."""
    counted = [Counter(str(row["assigned"]) for row in gradients(one)) for one in runs]
    if not all(counted):
        return Verdict(UNTESTABLE, "the recorder saw no op of the backward pass; compiled by XLA they hide")
    even = all(_even(one, counts) for one, counts in zip(runs, counted, strict=True))
    told_of = dict.fromkeys(_counted(counts) for counts in counted)
    return judged(
        even,
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
        f"{told(row['devices'])} by {row['algorithm']}, for which {_crossing(one, row):,} bytes cross "
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
        amounts = told(f"{amount:,} with {name}" for name, amount in moved.items())
        return [judged(True, f"the bytes that cross in a step depend on the algorithm: {amounts}")]
    amount = next(iter(moved.values()))
    measured = (
        f"the bytes that cross in a step do not depend on the algorithm here: {told(moved)} each move "
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


def central_storage(shown: Mapping[str, Shown]) -> list[Verdict]:
    """The variables are on the host; in each step every device reads them and sends its gradients there."""
    return [_central(one) for one in shown.values()]


def _central(one: Shown) -> Verdict:
    steps = one.report.get("steps")
    made = [row for row in ops(one) if row["type"] == "VarHandleOp"]
    homes = Counter(str(row["assigned"]) for row in made)
    if not made or not steps:
        return Verdict(UNTESTABLE, "the recorder saw no variables, or no steps")
    every = [row for row in hops(one) if row["count"] and row["count"] % steps == 0]
    read = {device: _each(every, "variable-home", steps, dst=device) for device in one.devices}
    back = {
        device: _each(every, "reduce-on-host", steps, src=device)
        or _each(every, "collective", steps, src=device)
        for device in one.devices
    }
    made_at = told(f"at {units.plural(count, 'line')} on {name}" for name, count in homes.items())
    measured = (
        f"variables were made {made_at}; in each step {_bytes(read)} of them are read from there, and "
        f"{_bytes(back)} of gradients sent back, {sum(read.values()) + sum(back.values()):,} bytes in all "
        "(estimated)"
    )
    if len(one.devices) == 1:
        measured += "; with one device TensorFlow keeps the variables on that one"
    on_host = all(is_host(name) for name in homes)
    return judged(on_host and all(read.values()) and all(back.values()), measured)


def pin_replica_gradients(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Each device has a backward pass of its own, as large as the others', and nothing crosses for it."""
    return [_apart(one) for one in shown.values()]


def _apart(one: Shown) -> Verdict:
    counts = Counter(str(row["assigned"]) for row in gradients(one))
    if not counts:
        return Verdict(UNTESTABLE, "the recorder saw no op of the backward pass; compiled by XLA they hide")
    between = among_devices(hops(one))
    moved = [row for row in hops(one) if row["cause"] == GRADIENT or row["forward_site"]]
    uploads = [row for row in hops(one) if row["cause"] == "host-upload"]
    measured = (
        f"the backward pass is on {_counted(counts)}; {size(moved):,} bytes cross because of it and "
        f"{size(between):,} between the devices, beside {size(uploads):,} bytes in the whole run from Python"
    )
    return judged(_even(one, counts) and not between and not moved, measured)


def _even(one: Shown, counts: Mapping[str, int]) -> bool:
    """Whether all of the run's devices, and no others, have equally many ops."""
    return set(counts) == set(one.devices) and len(set(counts.values())) == 1


def _each(rows: Iterable[Row], cause: str, steps: int, **ends: str) -> int:
    """The bytes a step of the copies with this cause, and these ends."""
    part = [row for row in rows if row["cause"] == cause and all(row[end] == ends[end] for end in ends)]
    return size(part) // steps


def _counted(homes: Mapping[str, int]) -> str:
    """`cpu:1 with 31 ops and cpu:2 with 31 ops`."""
    return told(f"{name} with {units.plural(count, 'op')}" for name, count in homes.items())


def _bytes(by_device: Mapping[str, int]) -> str:
    """`340,008 bytes to cpu:1 and ..`, told once where it is the same for all."""
    if len(set(by_device.values())) == 1 and len(by_device) > 1:
        return f"{next(iter(by_device.values())):,} bytes for each of {told(by_device)}"
    return told(f"{value:,} bytes for {device}" for device, value in by_device.items())
