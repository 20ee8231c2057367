"""The check of the claim of tf-no-kernel."""

from __future__ import annotations

from collections.abc import Mapping

from runners.device_names import is_gpu, is_host, parse
from runners.programs.evidence import Row, Shown, hops, join, judged, ops, said, size, times
from runners.programs.verdicts import UNTESTABLE, Verdict

_TYPES = {
    "angle": "Angle",
    "unique": "UniqueV2",
    "string-to-number": "StringToNumber",
    "fractional-max-pool": "FractionalMaxPool",
}
"""By the program's option `op`, what TensorFlow calls it."""


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """The op and its gradient ran on the host, where they were asked for on a device that lacks them."""
    # The kernel table and what float + complex does are the same in all runs: each sentence once.
    found = said(shown)
    for one in shown.values():
        kind = _TYPES.get(str(one.options.get("op")), "")
        forward = [row for row in ops(one) if row["type"] == kind]
        backward = [row for row in ops(one) if row["type"] == f"{kind}Grad"]
        if forward:
            found += _placed(one, kind, forward, backward)
    return found


def _placed(one: Shown, kind: str, forward: list[Row], backward: list[Row]) -> list[Verdict]:
    asked = join(row["requested"] for row in forward)
    where = join(row["assigned"] for row in forward)
    device = parse(asked)
    if device is None or device.type == "cpu":
        why = f"{asked or 'no device'} is a CPU device and has all kernels of the host, so no op is moved"
        rows = [*forward, *backward]
        types = join(row["type"] for row in rows)
        return [Verdict(UNTESTABLE, f"{why}. {types} ran on {join(row['assigned'] for row in rows)}")]
    plays = "" if is_gpu(asked) else ", XLA's device of the host, which lacks kernels as a GPU does"
    if kind == "Angle":
        measured = f"that angle has no GPU kernel: {kind} was asked for on {asked} and ran on {where}"
        if not is_gpu(asked):
            return [Verdict(UNTESTABLE, f"{asked} is no GPU. {measured[0].upper()}{measured[1:]}")]
        return [judged(all(map(is_host, _places(forward))), measured)]
    moved = all(is_host(place) for place in _places(forward))
    crossed = [row for row in hops(one) if row.get("cause") == "no-kernel"]
    more = " and more" if any(row["bytes"] is None for row in crossed) else ""
    cost = f"; {times(crossed)} tensors, {size(crossed):,} bytes{more}, crossed for it in the recorded run"
    found = [judged(moved, f"{kind} was asked for on {asked}{plays}, and ran on {where}{cost}")]
    if backward:
        back = _places(backward)
        measured = f"its gradient, {join(row['type'] for row in backward)}, ran on {join(back)}"
        found.append(judged(all(map(is_host, back)), f"{measured}, asked for on {asked} as well"))
    return found


def _places(rows: list[Row]) -> list[str]:
    return [str(row["assigned"]) for row in rows]
