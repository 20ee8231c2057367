"""What a foreseen run would send and wait for, as its report has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.analysis.hops import Hop
from app.analysis.syncs import Sync
from app.analysis.tables import Tables


def moved_rows(tables: Tables, hops: Sequence[Hop], syncs: Sequence[Sync]) -> dict[str, Any]:
    """The steps, hops and syncs; `each` is how often one happens in every step, None where nothing tells."""
    return {
        "steps": tables.steps,
        "hops": [hop.row() | {"each": tables.each(hop.keys, hop.count)} for hop in hops],
        "syncs": [sync.row() | {"each": sync.each} for sync in syncs],
    }
