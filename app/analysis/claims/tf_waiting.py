"""The checks of tf-host-sync and tf-input-pipeline: what they measured, and why, by a recorded run."""

from __future__ import annotations

from collections.abc import Mapping

from app.analysis.claims.recorded import Row, hops, judged, pinned
from app.analysis.claims.shown import Shown
from app.analysis.devices import is_host
from runners.programs.verdicts import Verdict

_ALL = "all"


def host_sync(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Reading each loss is a sync a step; reading some, or a metric, is few."""
    found = []
    for one in shown.values():
        found += one.said
        rows = [row for row in one.report.get("syncs") or () if row["device"] == pinned(one)]
        # A metric's value is worked out where it is read, on the default device, of what was brought there.
        rows = [row for row in rows if not row.get("brought_at")]
        reads = sorted((row["count"] for row in rows if row["kind"] == "numpy"), reverse=True)
        if one.options.get("variant") != _ALL or not reads:
            continue
        most = next(row for row in rows if row["count"] == reads[0])
        measured = (
            f"recorded once, with each way in turn, the line that reads each loss ({most['site']}) took "
            f"{reads[0]} values from {most['device']}, and the lines that read some of them {sum(reads[1:])}"
        )
        found.append(judged(reads[0] > 1 and reads[0] > sum(reads[1:]), measured))
    return found


def input_pipeline(shown: Mapping[str, Shown]) -> list[Verdict]:
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
