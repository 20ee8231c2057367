"""Variables that were made in the wrong scope at one place: one mistake, whichever lines read them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, MutableMapping, Sequence
from typing import Any, TypeVar

from app.diagnosis.causes.variable_home.rules import Evidence
from app.diagnosis.wording.transfer_costs import Telling
from app.facts.transfers.hops import Hop

_ROWS_OF_TABLE = "ResourceGather"

Act = TypeVar("Act")
_Read = tuple[Any, ...]
"""A variable's name, shape and type, and how often it was read."""


def made_together(hop: Hop) -> tuple[str, ...]:
    """What reads of one variable have in common, or of the variables of one object, that one device does."""
    evidence = hop.cause.evidence
    if not isinstance(evidence, Evidence):
        return ()
    if made := evidence.object_made_at:
        return "object", str(made), hop.src, hop.dst
    if evidence.created_alone and (made := evidence.created_at):
        return str(evidence.variable), str(made), hop.src, hop.dst
    return ()


def _created_at(hop: Hop) -> str:
    evidence = hop.cause.evidence
    return str(evidence.created_at or "") if isinstance(evidence, Evidence) else ""


def join_alike(groups: MutableMapping[Act, list[int]], hops: Sequence[Hop], telling: Telling) -> None:
    """Join the groups of variables that are one mistake.

    First the objects of one kind that a line reads on one device; then what the same lines read on several;
    then what several lines read that was created at one. A loop over an optimizer's slots reads them all, at
    each of its lines. One variable a line may be another one at each, as are tables that a helper makes:
    where those should be is asked of each by itself.
    """
    _made_alike(groups, hops)
    _join(groups, lambda rows: _readers(rows, hops))
    _join(groups, lambda rows: _reads([hops[row] for row in rows], telling))


def _made_alike(groups: MutableMapping[Act, list[int]], hops: Sequence[Hop]) -> None:
    """Join the groups of objects of one kind, made at lines of their own, that a line reads on one device.

    The layers of a network: what made them all lacks one scope.
    """
    first: list[tuple[tuple[str, ...], set[str], set[str | None], Act]] = []
    for act, rows in list(groups.items()):
        made = made_together(hops[rows[0]])
        if made[:1] != ("object",):
            continue
        created = {_created_at(hops[row]) for row in rows}
        lines = {hops[row].blamed_site for row in rows}
        for way, kind, read, known in first:
            if way == made[2:] and kind & created and read & lines:
                groups[known] += groups.pop(act)
                kind.update(created)
                read.update(lines)
                break
        else:
            first.append((made[2:], created, lines, act))


def _join(groups: MutableMapping[Act, list[int]], known_by: Callable[[list[int]], Hashable | None]) -> None:
    """Join the groups that are known by the same; None for a group that stays by itself."""
    first: dict[Hashable, Act] = {}
    for act, rows in list(groups.items()):
        alike = known_by(rows)
        if alike is not None and (known := first.setdefault(alike, act)) is not act:
            groups[known] += groups.pop(act)


def _readers(rows: list[int], hops: Sequence[Hop]) -> Hashable | None:
    """What the reads of one variable, or one object's, have in common, whichever devices read."""
    made = made_together(hops[rows[0]])
    return (*made[:-1], frozenset(hops[row].blamed_site for row in rows)) if made else None


def _reads(part: Sequence[Hop], telling: Telling) -> Hashable | None:
    """What a line's reads of variables are known by; None where they may be of one variable only."""
    hop = part[0]
    made = {_created_at(one) for one in part}
    ways = {(one.src, one.dst) for one in part}
    of_tables = any(one.producer_op == _ROWS_OF_TABLE for one in part)
    of_variables = isinstance(hop.cause.evidence, Evidence) and not of_tables and not made_together(hop)
    if not of_variables or len(made) + len(ways) > 2 or "" in made:
        return None
    read: list[_Read] = sorted(
        (str(one.cause.evidence.variable), one.shape, one.dtype, one.count or 0) for one in part
    )
    several = len(read) > 1 or telling.times_a_step(hop) > 1
    return (*made, *ways, *read) if several else None
