"""How much a foreseen run moves, and in words that fit a few steps: a pre-flight is no whole run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.wording.transfer_costs import Telling
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.views import units

_MORE = re.compile(r", \S+ \S+ more in the whole run")
_IN_ALL = re.compile(r"\S+ \S+ in the whole run, [\d,]+ transfers?")
_FIRST = "up to the end of the first step"
ALL_THAT_RAN = "in all that ran"


def of_these_steps(summary: str, hops: Sequence[Hop], early: Mapping[int, int], tables: Tables) -> str:
    """The summary of a finding with these hops, told of the steps that ran.

    `early` has, by key, how often something happened that was over with the first step: hops count it once.
    """
    before = [sum(early.get(key, 0) for key in hop.keys) for hop in hops]
    counted = [sum(key in early for key in hop.keys) for hop in hops]
    telling = Telling(tables.rounds, "")
    rest = [(hop.count or 0) - once for hop, once in zip(hops, counted, strict=True)]
    besides = [left - telling.times_a_step(hop) * tables.rounds for hop, left in zip(hops, rest, strict=True)]
    if tables.steps and not any(hop.own for hop in hops) and all(left >= 0 for left in rest):
        more = [f", {_size(hops, besides)} more in these steps"] * any(left > 0 for left in besides)
        more += [f", {_size(hops, before)} more {_FIRST}"] * any(before)
        summary = _MORE.sub("".join(more), summary)
        told = [_told(hops, rest, f"in these {units.plural(tables.steps, 'step')}")] * any(rest)
        told += [_told(hops, before, _FIRST)] * any(before)
        summary = _IN_ALL.sub(" and ".join(told), summary)
    elif any(before):
        every = [left + first for left, first in zip(rest, before, strict=True)]
        summary = _IN_ALL.sub(_told(hops, every, ALL_THAT_RAN), summary)
    return summary.replace("in the whole run", ALL_THAT_RAN)


def _true_count(hop: Hop, early: Mapping[int, int]) -> int | None:
    """How often a transfer happened, with all of what was over with the first step."""
    return None if hop.count is None else hop.count + sum(early[key] - 1 for key in hop.keys if key in early)


def _size(hops: Sequence[Hop], times: Sequence[float]) -> str:
    return units.size(
        round(sum((hop.bytes or 0) * max(often, 0) for hop, often in zip(hops, times, strict=True)))
    )


def _told(hops: Sequence[Hop], times: Sequence[int], when: str) -> str:
    return f"{_size(hops, times)} {when}, {units.plural(sum(times), 'transfer')}"


def moved_rows(
    tables: Tables, hops: Sequence[Hop], syncs: Sequence[Sync], early: Mapping[int, int] | None = None
) -> dict[str, Any]:
    """The steps, hops and syncs; `each` is how often one happens in every step, None where nothing tells.

    It is what findings are told by. `mean` is of what happens in some of the steps after the first: how often
    in one on the average. `early` is that of `of_these_steps`, None for tables that have the first step too.
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
            hop.row() | {"count": _true_count(hop, early or {})} | rates(hop.keys, hop.each, hop.count)
            for hop in hops
        ],
        "syncs": [sync.row() | rates(sync.keys, sync.each, sync.count) for sync in syncs],
    }
