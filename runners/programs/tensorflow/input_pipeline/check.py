"""The check of the claim of tf-input-pipeline."""

from __future__ import annotations

from collections.abc import Mapping

from runners.device_names import is_host
from runners.programs.evidence import Row, Shown, hops, judged, pinned
from runners.programs.verdicts import Verdict

_ALL = "all"


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Numpy arrays and tf.data's batches cross in each step, those of prefetch_to_device do not."""
    found = []
    for one in shown.values():
        found += one.said
        device = pinned(one)
        if one.options.get("pipeline") != _ALL or is_host(device):
            continue
        given = [row for row in hops(one) if is_host(str(row["src"])) and row["dst"] == device]
        steps = max((row["count"] or 0 for row in given), default=0)
        each = [row for row in given if row["count"] == steps > 1]
        arrays = [row for row in each if row.get("cause") == "host-upload"]
        elements = [row for row in each if row not in arrays]
        measured = (
            f"in {steps} recorded steps of each way, numpy arrays went to {device} {_a_step(arrays)}, and "
            f"tf.data's batches {_a_step(elements)}; with prefetch-to-device none did that the step would "
            "wait for: the pipeline copies them itself, where the recorder does not see it"
        )
        alike = len(arrays) == len(elements) == 2 and _bytes(arrays) == _bytes(elements)
        found.append(judged(alike, measured))
    return found


def _bytes(rows: list[Row]) -> int:
    return sum(row["bytes"] or 0 for row in rows)


def _a_step(rows: list[Row]) -> str:
    return f"in {len(rows)} transfers and {_bytes(rows):,} bytes a step"
