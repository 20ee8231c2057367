"""The check of tf-no-kernel: where an op ran that has no kernel for the device it was asked for on."""

from __future__ import annotations

from collections.abc import Mapping

from app.analysis.claims.recorded import Row, hops, judged, ops, size, times, told
from app.analysis.claims.shown import Shown
from app.analysis.devices import is_gpu, is_host, parse
from runners.programs.verdicts import UNTESTABLE, Verdict

_TYPES = {
    "angle": "Angle",
    "unique": "UniqueV2",
    "string-to-number": "StringToNumber",
    "fractional-max-pool": "FractionalMaxPool",
}
"""By the program's option `op`, what TensorFlow calls it."""


def no_kernel(shown: Mapping[str, Shown]) -> list[Verdict]:
    """The op and its gradient ran on the host, where they were asked for on a device that lacks them."""
    # The kernel table and what float + complex does are the same in all runs: each sentence once.
    found = list(dict.fromkeys(verdict for one in shown.values() for verdict in one.said))
    for one in shown.values():
        kind = _TYPES.get(str(one.options.get("op")), "")
        forward = [row for row in ops(one) if row["type"] == kind]
        backward = [row for row in ops(one) if row["type"] == f"{kind}Grad"]
        if forward:
            found += _placed(one, kind, forward, backward)
    return found


def _placed(one: Shown, kind: str, forward: list[Row], backward: list[Row]) -> list[Verdict]:
    asked = told(row["requested"] for row in forward)
    where = told(row["assigned"] for row in forward)
    device = parse(asked)
    if device is None or device.type == "cpu":
        why = f"{asked or 'no device'} is a CPU device and has all kernels of the host, so no op is moved"
        rows = [*forward, *backward]
        types = told(row["type"] for row in rows)
        return [Verdict(UNTESTABLE, f"{why}. {types} ran on {told(row['assigned'] for row in rows)}")]
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
        measured = f"its gradient, {told(row['type'] for row in backward)}, ran on {told(back)}"
        found.append(judged(all(map(is_host, back)), f"{measured}, asked for on {asked} as well"))
    return found


def _places(rows: list[Row]) -> list[str]:
    return [str(row["assigned"]) for row in rows]
