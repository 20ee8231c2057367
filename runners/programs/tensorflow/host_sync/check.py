"""The check of the claim of tf-host-sync."""

from __future__ import annotations

from collections.abc import Mapping

from runners.programs.evidence import Shown, judged, pinned
from runners.programs.verdicts import Verdict

_ALL = "all"


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
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
