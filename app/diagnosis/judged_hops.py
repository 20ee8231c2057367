"""The hop table of a run with the cause of each transfer."""

from __future__ import annotations

from app.diagnosis.judge import judged
from app.facts.tables import Tables
from app.facts.transfers import hops
from app.facts.transfers.hops import Hop


def hop_table(tables: Tables) -> list[Hop]:
    """The rows as `app.facts.transfers.hops.hop_table` makes them, judged by the rules."""
    return hops.hop_table(tables, judged)
