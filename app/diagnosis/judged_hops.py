"""The hop table of a run with the cause of each transfer, and with the finding that has it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from app.diagnosis.judge import judged
from app.facts.tables import Tables
from app.facts.transfers import hops
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding


def hop_table(tables: Tables) -> list[Hop]:
    """The rows as `app.facts.transfers.hops.hop_table` makes them, judged by the rules."""
    return hops.hop_table(tables, judged)


def told_hops(hops: Sequence[Hop], findings: Iterable[Finding]) -> list[Hop]:
    """The hop table, each row with the finding that has it; of several the one that stands first."""
    told: dict[int, tuple[str, str]] = {}
    for finding in findings:
        for row in finding.rows:
            told.setdefault(row, (finding.code, finding.severity))
    return [dataclasses.replace(hop, told=told[row]) if row in told else hop for row, hop in enumerate(hops)]
