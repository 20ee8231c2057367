"""The check of the claim of mx-contexts."""

from __future__ import annotations

from collections.abc import Mapping

from runners.programs.evidence import Shown, hops, judged, ops, times
from runners.programs.mxnet.evidence import is_as_asked, lines
from runners.programs.verdicts import Verdict


def check(shown: Mapping[str, Shown]) -> list[Verdict]:
    """Arrays are where their context says, and on the host where nobody named one; nothing crosses."""
    found = []
    for one in shown.values():
        found += one.said
        rows = ops(one)
        if rows:
            crossed = times(hops(one))
            measured = f"the recorder saw arrays made {lines(rows)}, and {crossed} copies between devices"
            found.append(judged(is_as_asked(rows) and not crossed, measured))
    return found
