"""The check of the claim of tf-central-storage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from runners.amounts import plural
from runners.device_names import is_host
from runners.programs.evidence import Row, Shown, hops, join, judged, ops, size
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
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
    made_at = join(f"at {plural(count, 'line')} on {name}" for name, count in homes.items())
    measured = (
        f"variables were made {made_at}; in each step {_bytes(read)} of them are read from there, and "
        f"{_bytes(back)} of gradients sent back, {sum(read.values()) + sum(back.values()):,} bytes in all "
        "(estimated)"
    )
    if len(one.devices) == 1:
        measured += "; with one device TensorFlow keeps the variables on that one"
    on_host = all(is_host(name) for name in homes)
    return judged(on_host and all(read.values()) and all(back.values()), measured)


def _each(rows: Iterable[Row], cause: str, steps: int, **ends: str) -> int:
    """The bytes a step of the copies with this cause, and these ends."""
    part = [row for row in rows if row["cause"] == cause and all(row[end] == ends[end] for end in ends)]
    return size(part) // steps


def _bytes(by_device: Mapping[str, int]) -> str:
    """`340,008 bytes to cpu:1 and ..`, told once where it is the same for all."""
    if len(set(by_device.values())) == 1 and len(by_device) > 1:
        return f"{next(iter(by_device.values())):,} bytes for each of {join(by_device)}"
    return join(f"{value:,} bytes for {device}" for device, value in by_device.items())
