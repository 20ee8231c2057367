"""The check of the claim of tf-pin-gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from runners.amounts import plural
from runners.device_names import default_device
from runners.programs.evidence import Row, Shown, hops, join, judged, pinned
from runners.programs.tensorflow.evidence import GRADIENT, HIDDEN, gradients
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Outside of the scope the gradients ran on the default device, inside on the pinned one."""
    runs = {str(one.options.get("gradients")): one for one in shown.values()}
    outside, inside = runs.get("outside"), runs.get("inside")
    if outside is None or inside is None:
        return [Verdict(UNTESTABLE, "it takes a run outside and one inside of the scope")]
    device = pinned(outside)
    default = default_device(outside.report.get("devices") or (), device)
    if device == default:
        why = f"{device} is the default device, where gradients run with the scope or without; pin to another"
        return [Verdict(UNTESTABLE, why)]
    homes = {name: Counter(_homes(gradients(one))) for name, one in runs.items()}
    if not all(homes.values()):
        return [Verdict(UNTESTABLE, HIDDEN)]
    crossed = {name: [row for row in hops(one) if row.get("cause") == GRADIENT] for name, one in runs.items()}
    more = sum(row.get("bytes") or 0 for row in crossed["outside"])
    measured = (
        f"outside of the scope the backward pass ran {_counted(homes['outside'])}, with the model on "
        f"{device}, and {plural(len(crossed['outside']), 'tensor')}, {more:,} bytes, crossed in a step "
        f"because of it; inside it ran {_counted(homes['inside'])}, and {len(crossed['inside']) or 'none'} "
        f"crossed"
    )
    moved = set(homes["outside"]) == {default} and set(homes["inside"]) == {device}
    return [judged(moved and bool(crossed["outside"]) and not crossed["inside"], measured)]


def _homes(rows: Iterable[Row]) -> list[str]:
    return [str(row["assigned"]) for row in rows]


def _counted(homes: Mapping[Any, int]) -> str:
    """`on cpu:0 with 31 ops`."""
    return join(f"on {name} with {plural(count, 'op')}" for name, count in homes.items())
