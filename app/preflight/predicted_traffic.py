"""What a foreseen run would send and wait for, as its report has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.wording.transfer_costs import Telling
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.preflight.amounts import true_count


def moved_rows(
    tables: Tables, hops: Sequence[Hop], syncs: Sequence[Sync], early: Mapping[int, int] | None = None
) -> dict[str, Any]:
    """The steps, hops and syncs; `each` is how often one happens in every step, None where nothing tells.

    It is what findings are told by. `mean` is of what happens in some of the steps after the first: how often
    in one on the average. `early` is that of `Keys`, None for tables that have the first step too.
    """
    telling = Telling(tables.rounds, "")
    by_step = (tables.steps or 0) > 1
    after_first = (tables.steps or 0) - (early is None)

    def each(told: float | None, count: int | None) -> float | None:
        if told is not None or not by_step or count is None:
            return told
        return telling.of_count(count)

    def rates(keys: Sequence[int], told: float | None, count: int | None) -> dict[str, float | None]:
        every = each(told, count)
        if every != 0 or not by_step or count is None:
            return {"each": every}
        if early is None:
            later = tables.after_first(keys, count)
        else:
            later = count - sum(key in early for key in keys)
        return {"each": every, "mean": (later or 0) / after_first}

    return {
        "steps": tables.steps,
        "hops": [
            hop.row() | {"count": true_count(hop, early or {})} | rates(hop.keys, hop.each, hop.count)
            for hop in hops
        ],
        "syncs": [sync.row() | rates(sync.keys, sync.each, sync.count) for sync in syncs],
    }
