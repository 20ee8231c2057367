"""Hops as the findings tell of them: what a bounce took over is a part of that, not what it is by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding


def told_hops(hops: Sequence[Hop], findings: Iterable[Finding]) -> list[Hop]:
    """The hop table, each row with the finding that has it; of several the one that stands first."""
    told: dict[int, tuple[str, str]] = {}
    for finding in findings:
        for row in finding.rows:
            told.setdefault(row, (finding.code, finding.severity))
    return [dataclasses.replace(hop, told=told[row]) if row in told else hop for row, hop in enumerate(hops)]
