"""How a batch is cut into slices, one a device."""

from __future__ import annotations

from collections.abc import Sequence


def cut(batch: int, loads: Sequence[int]) -> list[int]:
    """How many images each device gets, as MXNet's Module cuts: rounded shares, the rest for the last one."""
    left, sizes = batch, []
    for load in loads[:-1]:
        sizes.append(min(left, round(batch * load / sum(loads))))
        left -= sizes[-1]
    return [*sizes, left]
