"""Transfers that a mistake told at their line has as well: the scope that is wanting spares them too.

What ops without a scope make of a card's values, away from it, an assignment takes back to the variable.
By itself that is only kept beside its variable there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from app.analysis.hops import Hop
from app.analysis.rules.placed import READS
from app.analysis.telling import Telling
from app.analysis.transfer import NOT_THE_CODES

_NOT_OF_THE_LINE = READS | NOT_THE_CODES | {"", "?"}
"""Producers that may stay where they are, whatever the scope of the line that their result comes from."""

_CHANGES = ("Assign", "ResourceApply", "ResourceScatter")
"""How ops begin that change a variable where it lives."""

Act = TypeVar("Act")
_Way = tuple[str | None, str, str]
"""Line, source and destination."""


def consequences(
    groups: Mapping[Act, Sequence[int]], hops: Sequence[Hop], telling: Telling
) -> dict[Act, list[int]]:
    """Rows that belong to another group than their own: to that of ops at their line that lack a scope."""
    lacking: dict[_Way, Act] = {}
    for act, rows in groups.items():
        if (way := _lacks_a_scope([hops[row] for row in rows], telling)) is not None:
            lacking[way] = act
    found: dict[Act, list[int]] = {}
    for row in sorted(row for rows in groups.values() for row in rows):
        hop = hops[row]
        back = hop.site, hop.dst, hop.src
        if back in lacking and _put_back(hop) and telling.times_a_step(hop):
            found.setdefault(lacking[back], []).append(row)
    return found


def _lacks_a_scope(part: Sequence[Hop], telling: Telling) -> _Way | None:
    """The line, the one card that what it takes lies on, and where its ops ran; None for other findings."""
    if any(hop.cause.code != "default-device" or hop.cause.blames != "consumer" for hop in part):
        return None
    places = {(hop.site, hop.src, hop.dst) for hop in part}
    loud = any(hop.cause.severity != "info" for hop in part)
    if len(places) != 1 or not loud or not telling.recurring(part) or part[0].site is None:
        return None
    return places.pop()


def _put_back(hop: Hop) -> bool:
    """Whether an assignment takes to its variable what an op made at its line, which nobody placed."""
    evidence = hop.cause.evidence
    return (
        hop.cause.code == "colocation"
        and bool(evidence.get("colocated_with"))
        and not evidence.get("requested")
        and not evidence.get("producer_requested")
        and hop.op.startswith(_CHANGES)
        and hop.producer_site == hop.site
        and hop.producer_op not in _NOT_OF_THE_LINE
        and "Call" not in hop.producer_op
    )
