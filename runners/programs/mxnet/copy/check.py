"""The check of the claim of mx-copy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runners.programs.evidence import Row, Shown, between, hops, judged, ops, size, times
from runners.programs.verdicts import Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
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


def _by(rows: Iterable[Row], way: str) -> list[Row]:
    """Those that a function of MXNet's made."""
    return [row for row in rows if str(row.get("via")).endswith(f":{way}")]


def _counts(by_way: Mapping[str, int]) -> str:
    return ", ".join(f"by {way} {count}" for way, count in by_way.items())
