"""The check of the claim of mx-model-parallel-lstm."""

from __future__ import annotations

from collections.abc import Mapping

from runners.programs.evidence import Shown, among_devices, hops, join, judged
from runners.programs.mxnet.evidence import via
from runners.programs.verdicts import UNTESTABLE, Verdict

FLOAT_BYTES = 4


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Between neighbours cross the outputs of a boundary forward, as many gradients back, nothing else."""
    found = []
    for one in shown.values():
        order = {device: place for place, device in enumerate(one.devices)}
        rows = among_devices(hops(one))
        if not rows or any(row["src"] not in order or row["dst"] not in order for row in rows):
            found.append(Verdict(UNTESTABLE, f"the recording shows no copies among {join(one.devices)}"))
            continue
        width = _number(one.options.get("batch")) * _number(one.options.get("width")) * FLOAT_BYTES
        backward = [row for row in rows if via(row, "backward")]
        back = [row for row in backward if order[row["src"]] > order[row["dst"]]]
        parts = [row for row in backward if order[row["src"]] < order[row["dst"]]]
        forward = [row for row in rows if row not in backward]
        near = all(abs(order[row["src"]] - order[row["dst"]]) == 1 for row in rows)
        sizes = {row["bytes"] for row in rows}
        also = ""
        if parts:
            noun = f"{len(parts)} parts of gradients" if len(parts) > 1 else "1 part of a gradient"
            also = (
                f", and forward again {noun} ({parts[0]['producer']}, ..), to be added up on the next device"
            )
        measured = (
            f"with boundary={one.options.get('boundary')} the recorder saw {len(forward)} tensors of "
            f"{join(f'{one_size:,}' for one_size in sorted(sizes))} bytes cross forward between neighbours "
            f"in a step, and {len(back)} back{also}"
            + ("" if near else "; some of them between devices that are no neighbours")
        )
        only = near and not parts and len(forward) == len(back) and sizes == {width}
        found.append(judged(only, measured))
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
