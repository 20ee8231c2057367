"""Checks of the MXNet programs about contexts and copies: what they say, beside what the recorder saw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.analysis.claims.recorded import Row, between, hops, judged, ops, pinned, size, times, told
from app.analysis.claims.shown import Shown
from app.analysis.devices import is_gpu, is_host
from runners.programs.verdicts import Verdict

HOST = "cpu:0"


def contexts(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Arrays are where their context says, and on the host where nobody named one; nothing crosses."""
    found = []
    for one in shown.values():
        found += one.said
        rows = ops(one)
        if rows:
            crossed = times(hops(one))
            measured = f"the recorder saw arrays made {_lines(rows)}, and {crossed} copies between devices"
            found.append(judged(_as_asked(rows) and not crossed, measured))
    return found


def context_scope(shown: Mapping[str, Shown]) -> list[Verdict]:
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
            f"the recorder saw ops {_lines(rows)}; of what crosses between devices {times(given)} of "
            f"{times(crossed)} copies, {size(given):,} bytes, are the numbers that nd.array was given"
        )
        found.append(judged(_as_asked(rows) and len(given) == len(crossed), measured))
    return found


def copies(shown: Mapping[str, Shown]) -> list[Verdict]:
    """To the same device copyto copies and as_in_context and as_in_ctx do not; to another one all do."""
    found = []
    for one in shown.values():
        found += one.said
        if not ops(one) or len(one.devices) != 2:
            continue
        here, there = one.devices
        ways = "copyto", "as_in_context", "as_in_ctx"
        same, other = (
            {way: times(_by(between(hops(one), here, dst), way)) for way in ways} for dst in (here, there)
        )
        measured = (
            f"the recorder saw copies from {here} to itself {_counts(same)}, and from {here} to {there} "
            f"{_counts(other)}, {size(between(hops(one), here, there)):,} bytes in all"
        )
        kept = not same["as_in_context"] and not same["as_in_ctx"]
        found.append(judged(bool(same["copyto"]) and kept and all(other.values()), measured))
    return found


def mixed_context(shown: Mapping[str, Shown]) -> list[Verdict]:
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


def _as_asked(rows: Iterable[Row]) -> bool:
    return all(row["assigned"] == (row["requested"] or HOST) for row in rows)


def _by(rows: Iterable[Row], way: str) -> list[Row]:
    """Those that a function of MXNet's made."""
    return [row for row in rows if str(row.get("via")).endswith(f":{way}")]


def _counts(by_way: Mapping[str, int]) -> str:
    return ", ".join(f"by {way} {count}" for way, count in by_way.items())


def _lines(rows: Iterable[Row]) -> str:
    """`on cpu:0 at lines 83 and 85, on cpu:2 at line 84`."""
    lines: dict[str, set[int]] = {}
    for row in rows:
        number = str(row.get("site")).rpartition(":")[2]
        lines.setdefault(str(row["assigned"]), set()).update({int(number)} if number.isdecimal() else ())
    return ", ".join(
        f"on {device} at line{'s' if len(numbers) > 1 else ''} {told(sorted(numbers))}"
        for device, numbers in sorted(lines.items())
        if numbers
    )
