"""The check of the claim of tf-multiworker."""

from __future__ import annotations

from collections.abc import Mapping

from runners.amounts import plural
from runners.programs.evidence import Row, Shown, join, judged, said
from runners.programs.verdicts import UNTESTABLE, Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Equal weights, as the program compares them; and bytes that grow with the number of workers."""
    found = said(shown)
    crossing: dict[int, Row] = {}
    for one in shown.values():
        rows = [row for row in one.report.get("collectives") or () if "Reduce" in str(row.get("op"))]
        # The gradients are the largest tensor that is summed; beside them losses are.
        largest: Row = max(rows, key=lambda row: row.get("payload_bytes") or 0, default={})
        workers = one.options.get("workers")
        if largest.get("payload_bytes") and largest.get("wire_bytes") and isinstance(workers, int):
            crossing[workers] = largest
    if len(crossing) < 2:
        why = f"bytes of {join(crossing) or 'no'} workers were recorded, and it takes two numbers to compare"
        return [*found, Verdict(UNTESTABLE, why)]
    numbers = sorted(crossing)
    wire = [crossing[number]["wire_bytes"] for number in numbers]
    each = ", ".join(
        f"{crossing[number]['wire_bytes']:,} bytes between {plural(number, 'worker')}" for number in numbers
    )
    payload = join(f"{crossing[number]['payload_bytes']:,}" for number in numbers)
    algorithm = join(crossing[number].get("algorithm") for number in numbers)
    measured = f"to sum {payload} bytes of gradients by {algorithm}, {each} cross in a step (estimated)"
    return [*found, judged(wire == sorted(set(wire)), measured)]
