"""The check of the claim of tf-model-parallel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from runners.programs.evidence import Row, Shown, among_devices, hops, join, judged, times
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Between neighbours activations cross forward and their gradients back; others exchange nothing."""
    return [_neighbours(one) for one in shown.values()]


def _neighbours(one: Shown) -> Verdict:
    place = {device: number for number, device in enumerate(one.devices)}
    rows = among_devices(hops(one))
    if len(place) < 2 or not rows:
        return Verdict(UNTESTABLE, f"the recorder saw nothing cross among {join(one.devices)}")

    def distance(row: Row) -> int:
        ends = place.get(str(row["dst"])), place.get(str(row["src"]))
        return 0 if ends[0] is None or ends[1] is None else ends[0] - ends[1]

    forward, back = ([row for row in rows if distance(row) == way] for way in (1, -1))
    stray = [row for row in rows if abs(distance(row)) != 1]
    sizes = sorted({row["bytes"] for row in forward + back if row["bytes"] is not None})
    measured = (
        f"{_ways(forward)} cross forward {times(forward)} times in the whole run, evaluation included, "
        f"and {_ways(back)} back {times(back)} times, each of "
        f"{join(f'{size:,}' for size in sizes) or 'unknown'} bytes (estimated)"
    )
    if stray:
        measured += f"; besides {_ways(stray)} between devices that are no neighbours"
    gradients_back = all(row.get("forward_site") for row in back)
    if not gradients_back:
        measured += "; what goes back is not all made by the backward pass"
    pairs = len(place) - 1
    whole = all(len({(row["src"], row["dst"]) for row in part}) == pairs for part in (forward, back))
    return judged(whole and not stray and gradients_back, measured)


def _ways(rows: Iterable[Row]) -> str:
    """`cpu:1 to cpu:2, cpu:2 to cpu:3`."""
    ways = dict.fromkeys(f"{row['src']} to {row['dst']}" for row in rows)
    return ", ".join(ways) or "nothing"
