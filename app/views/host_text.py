"""The host in a line of text: processors, memory, how long it has been up."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from app.views import units
from app.views.columns import plain
from app.views.gaps import NOTHING, field, why
from probes.nvml.snapshot import is_missing

_HARD_SPACE = "\N{NO-BREAK SPACE}"


def host_line(host: Mapping[str, Any], room: int) -> list[str]:
    """What a snapshot says of the host, wrapped to `room` columns."""
    if not host:
        return []

    def told(name: str, form: str) -> str:
        value = field(host, name)
        return f"{NOTHING} [{why(value)}]" if is_missing(value) else form.format(value)

    def size(name: str) -> str:
        value = field(host, name)
        return f"{NOTHING} [{why(value)}]" if is_missing(value) else units.size(value)

    name = field(host, "hostname")
    parts = [
        f"CPU {told('cpu_percent', '{:.0f} %')} of {told('cpu_cores', '{}')} cores",
        f"load {told('load_1m', '{:.2f}')}",
        f"memory {size('memory_used_bytes')} of {size('memory_total_bytes')}",
        f"swap {size('swap_used_bytes')}",
    ]
    up = field(host, "uptime_seconds")
    if not is_missing(up):
        parts.append(f"up {uptime(up)}")
    head = "Host:" if is_missing(name) else f"Host {plain(name)}:"
    # A figure stays beside its unit.
    whole = ", ".join(part.replace(" ", _HARD_SPACE) for part in parts)
    lines = textwrap.wrap(f"{head} {whole}", room, subsequent_indent="  ")
    return [line.replace(_HARD_SPACE, " ") for line in lines]


def uptime(seconds: float) -> str:
    """``12 min``, ``3 h 05 min``, ``2 days 4 h``."""
    minutes = int(seconds) // 60
    hours, days = minutes // 60, minutes // 1440
    if days:
        return f"{units.plural(days, 'day')} {hours % 24} h"
    return f"{hours} h {minutes % 60:02d} min" if hours else f"{minutes} min"
