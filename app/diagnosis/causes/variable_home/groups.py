"""Transfers that are one mistake with variables far from where they are read.

Variables that were made in the wrong scope at one place are one, whichever lines read them. What changes a
variable goes there too: its gradients are made where it is read. That they come to it is no mistake of the
line that applies them: it works where the variable is. Once that is elsewhere, the line wants its scope too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Hashable, Mapping, MutableMapping, Sequence
from typing import Any, TypeVar

from app.diagnosis.causes.variable_home.rules import Evidence
from app.diagnosis.wording.transfer_costs import Telling
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import CHANGES
from app.views.naming import each

_LOOKED_UP = "ResourceGather"

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
    of_tables = any(one.producer_op == _LOOKED_UP for one in part)
    of_variables = isinstance(hop.cause.evidence, Evidence) and not of_tables and not made_together(hop)
    if not of_variables or len(made) + len(ways) > 2 or "" in made:
        return None
    read: list[_Read] = sorted(
        (str(one.cause.evidence.variable), one.shape, one.dtype, one.count or 0) for one in part
    )
    several = len(read) > 1 or telling.times_a_step(hop) > 1
    return (*made, *ways, *read) if several else None


Changed = Callable[[str], Collection[str]]
"""The lines that change variables of a device."""


def nothing_changed(device: str) -> Collection[str]:
    """Of runs of whose ops nothing is known."""
    return ()


def with_changes(
    groups: Mapping[Act, Sequence[int]],
    hops: Sequence[Hop],
    telling: Telling,
    taken: MutableMapping[Act, list[int]],
    changed: Changed,
) -> None:
    """Give what goes to variables far from where they are read to these, but for what others have `taken`."""
    far = {act: rows for act, rows in groups.items() if _are_far([hops[row] for row in rows], telling)}
    if not far:
        return
    mine = {row for rows in (*far.values(), *taken.values()) for row in rows}
    for act, rows in far.items():
        read = [hops[row] for row in rows]
        for other, theirs in groups.items():
            part = [hops[row] for row in theirs]
            if other in far or other in taken or any(row in mine for row in theirs):
                continue
            if not all(telling.times_a_step(hop) for hop in part):
                continue
            if all(_goes_to(hop, read) for hop in part) or _is_for(part, read, hops, changed):
                taken.setdefault(act, []).extend(theirs)
                mine.update(theirs)


def along(evidence: Evidence, consequences: Sequence[Hop]) -> tuple[str, Evidence]:
    """What goes to the variables, in words, and the evidence with the lines whose ops nobody placed."""
    if not consequences:
        return "", evidence
    if evidence.gradient_goes_back:
        return ", with its gradient's way back", evidence
    rows = all(hop.op == _LOOKED_UP for hop in consequences)
    sites = (hop.site for hop in consequences if hop.cause.code == "default-device" and hop.site)
    said = ", with the numbers of the rows" if rows else ", with what goes there to change them"
    return said, dataclasses.replace(evidence, changed_at=list(dict.fromkeys(sites)) or None)


def _are_far(part: Sequence[Hop], telling: Telling) -> bool:
    """Whether they are a warning about variables of one device."""
    evidence = part[0].cause.evidence
    if not isinstance(evidence, Evidence) or len({hop.src for hop in part}) != 1:
        return False
    loud = any(hop.cause.severity != "info" for hop in part)
    return loud and bool(telling.recurring(part)) and not evidence.kept_by


def _goes_to(hop: Hop, read: Sequence[Hop]) -> bool:
    """Whether an op that stands beside one of the variables works with what comes from where that is read."""
    beside = each(hop.cause.evidence.colocated_with)
    looks_up = hop.op == _LOOKED_UP
    if hop.cause.code != "colocation" or not (looks_up or hop.op.startswith(CHANGES)):
        return False
    return any(
        (one.dst, one.src) == (hop.src, hop.dst)
        and (one.count or 0) >= (hop.count or 0)  # what is written more often than read is written there
        and (looks_up == (one.producer_op == _LOOKED_UP))
        and (looks_up or one.shape == hop.shape)
        and any(_is_named(one, name) for name in beside)
        for one in read
    )


def _is_named(read: Hop, name: str) -> bool:
    told = str(read.cause.evidence.variable)
    return told == name or told.startswith(f"{name} of ")


def _is_for(part: Sequence[Hop], read: Sequence[Hop], hops: Sequence[Hop], changed: Changed) -> bool:
    """Whether ops of a line that nobody placed make of tensors like the variables what these are changed by.

    Not where the line changes variables of the other device too: then it is the line that lacks a scope.
    """
    ways = {(hop.site, hop.src, hop.dst) for hop in part}
    if len(ways) != 1 or any(hop.cause.code != "default-device" for hop in part):
        return False
    site, src, dst = ways.pop()
    shapes = {one.shape for one in read if (one.dst, one.src) == (src, dst)}
    if any(hop.cause.blames != "consumer" or not hop.shape or hop.shape not in shapes for hop in part):
        return False
    back = any(
        hop.site == site and hop.dst == src and hop.op.startswith(CHANGES) for hop in hops if hop.count
    )
    return not back and site in changed(dst)
