"""What copies cost on a machine, as text: bandwidth and latency between each two ends."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from datetime import datetime

from app.views import units
from app.views.columns import aligned, plain
from runners.machine.copy_costs import HOST, Costs, Pair

_HEAD = ("FROM", "TO", "HOST MEMORY", "BANDWIDTH", "LATENCY", "WAY")
_NUMBERS = (3, 4)
_ROOM = 110


def costs_text(costs: Costs, names: Mapping[str, str]) -> str:
    """The measured pairs and what was left out; `names` gives each UUID its device, `gpu:0`."""
    when = datetime.fromtimestamp(costs.made).strftime("%Y-%m-%d %H:%M:%S")
    lines = [f"Copies of {units.size(costs.size_bytes)} on {plain(costs.host)}, measured {when}:"]
    if costs.pairs:
        rows = sorted((_row(pair, names) for pair in costs.pairs), key=lambda row: row[:3])
        lines += aligned(_HEAD, rows, _NUMBERS)
    for left_out in costs.skipped:
        src, dst = left_out.get("src"), left_out.get("dst")
        ends = [_name(str(end), names) for end in (src, dst) if end is not None]
        reason = plain(left_out.get("reason", ""))
        lines += textwrap.wrap(f"Not measured: {' to '.join(ends)}: {reason}", _ROOM, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def _row(pair: Pair, names: Mapping[str, str]) -> tuple[str, ...]:
    if pair.src == pair.dst:
        way = "within the card"
    elif HOST in (pair.src, pair.dst):
        way = ""
    else:
        way = "direct (peer access)" if pair.peer else "through the host"
    return (
        _name(pair.src, names),
        _name(pair.dst, names),
        pair.memory or "",
        f"{units.size(pair.bytes_per_second)}/s",
        units.duration(pair.latency_seconds),
        way,
    )


def _name(end: str, names: Mapping[str, str]) -> str:
    return end if end == HOST else names.get(end, plain(end))
