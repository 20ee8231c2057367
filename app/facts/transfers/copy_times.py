"""What hops take by the machine's measured copies: estimates, and only between cards and the host."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.facts.devices import is_gpu
from app.facts.transfers.hops import Hop
from app.views import units
from runners.machine.copy_costs import Copy, Costs, estimate


def with_times(
    hops: Iterable[Hop], costs: Costs | None, device_map: Mapping[str, Mapping[str, Any]]
) -> list[Hop]:
    """The hops, each with the seconds of one transfer where its ends and size are known."""
    if costs is None:
        return list(hops)
    return [
        dataclasses.replace(hop, seconds=seconds)
        if (seconds := _seconds(hop, costs, device_map)) is not None
        else hop
        for hop in hops
    ]


def _seconds(hop: Hop, costs: Costs, device_map: Mapping[str, Mapping[str, Any]]) -> float | None:
    copy = Copy(hop.src, hop.dst, hop.bytes, 1, hop.src_memory, hop.dst_memory)
    return estimate(costs, device_map, copy)


def cards_in(device_map: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The UUIDs of the cards that a run had whole."""
    found = (facts.get("uuid") for name, facts in device_map.items() if is_gpu(name))
    return list(dict.fromkeys(uuid for uuid in found if isinstance(uuid, str)))


def times_note(costs: Costs | None, hops: Sequence[Hop]) -> str | None:
    """What the times of hops rest on; None where there are none."""
    if costs is None or all(hop.seconds is None for hop in hops):
        return None
    made = time.strftime("%Y-%m-%d", time.localtime(costs.made))
    driver = f" with driver {costs.driver}" if costs.driver else ""
    return (
        f"times of copies are estimated from copies of up to {units.size(costs.size_bytes)} that were"
        f" measured on {costs.host} on {made}{driver}, the host's memory being pageable"
    )
