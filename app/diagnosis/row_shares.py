"""Parts of rows of the hop table: of all that went one way, what came back is told apart from the rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding

_MOST = 0.5


def share(hop: Hop, count: int, like: Hop) -> Hop:
    """So many of a row's transfers, which happen as often in every step as those of the row `like`."""
    if count == hop.count:
        return hop
    return dataclasses.replace(_counted(hop, count), each=like.each, own=like.own)


def abreast(legs: Sequence[Hop]) -> list[Hop]:
    """The rows that one tensor takes after each other, each with a pace where one of them has.

    What another thread sends on at leisure is as often of every step as what it comes from.
    """
    paced = next((leg for leg in legs if leg.each), None)
    return [
        leg
        if paced is None or leg.each is not None or leg.count is None or leg.count != paced.count
        else dataclasses.replace(leg, each=paced.each, own=paced.own)
        for leg in legs
    ]


def untold(findings: Iterable[Finding], hops: Sequence[Hop]) -> list[Hop]:
    """The hop table without the transfers that findings have; a row of which nothing is left counts 0.

    Where most of it is told, what is left over recurs no longer, and is no warning.
    """
    over = list(hops)
    for finding in findings:
        for row in finding.hops:
            of_it = finding.shares.get(row)
            over[row] = _without(over[row], over[row].count if of_it is None else of_it)
    return over


def _without(hop: Hop, count: int | None) -> Hop:
    every = hop.count or 0
    left = 0 if count is None else max(0, every - count)
    counted = _counted(hop, left)
    if left >= _MOST * every > 0:
        return dataclasses.replace(counted, each=None if hop.each is None else hop.each * left / every)
    quiet = dataclasses.replace(hop.cause, severity="info")
    return dataclasses.replace(counted, each=None if hop.each is None else 0.0, cause=quiet)


def part_of(finding: Finding, hops: Sequence[Hop]) -> list[Hop]:
    """The rows of a finding, of each the transfers that are the finding's."""
    rows = [(row, hops[row]) for row in finding.hops if row < len(hops)]
    return [_counted(hop, finding.shares.get(row, hop.count)) for row, hop in rows]


def all_of(finding: Finding, hops: Sequence[Hop]) -> list[Hop]:
    """The same with the rows of its consequences."""
    return part_of(dataclasses.replace(finding, hops=finding.rows), hops)


def _counted(hop: Hop, count: int | None) -> Hop:
    if count == hop.count:
        return hop
    took = (
        None if None in (hop.took_ns, count) else round((hop.took_ns or 0) * (count or 0) / (hop.count or 1))
    )
    # How many of them a call of its graph makes is not known.
    return dataclasses.replace(hop, count=count, took_ns=took, per_call=None)
