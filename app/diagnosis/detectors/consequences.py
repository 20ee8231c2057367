"""Transfers that a mistake told at their line has as well: the scope that is wanting spares them too.

What ops without a scope make of a card's values, away from it, an assignment takes back to the variable.
By itself that is only kept beside its variable there. So it is with gradients outside of their forward ops'
scope; what is no op's gradient at their line, an Identity or a sum of TensorFlow's own, lacks that scope too.
And the gradient of a variable that MXNet's code copies to use it goes back wherever the backward pass is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from app.diagnosis.causes.gradient_outside_scope.cause import Evidence as Gradients
from app.diagnosis.causes.redundant_copy.cause import Evidence as Redundant
from app.diagnosis.causes.variable_home.rules import Evidence as VariableHome
from app.diagnosis.wording.transfer_costs import Telling
from app.facts.dialects import DIALECTS
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import CHANGES, NOT_THE_CODES, READS
from app.views.naming import each
from probes.trace.hop import COPIED_BACK

_NOT_OF_THE_LINE = READS | NOT_THE_CODES | {"", "?"}
"""Producers that may stay where they are, whatever the scope of the line that their result comes from."""

_BACKWARD = " (backward)"
_ONE_CALL = tuple(path for dialect in DIALECTS for path in dialect.one_call)
"""Where what a line calls is from that asks for gradients, and no library's loop over steps."""

Act = TypeVar("Act")
_Way = tuple[str | None, str, str]
"""Line, source and destination."""


def consequences(
    groups: Mapping[Act, Sequence[int]], hops: Sequence[Hop], telling: Telling
) -> dict[Act, list[int]]:
    """Rows that belong to another group than their own: to that of ops at their line that lack a scope."""
    lacking: dict[_Way, Act] = {}
    gradients: dict[_Way, Act] = {}
    alone: dict[_Way, Act] = {}
    variables: dict[tuple[str | None, ...], Act] = {}
    for act, rows in groups.items():
        part = [hops[row] for row in rows]
        if (way := _lacks_a_scope(part, telling)) is not None:
            lacking.setdefault(way, act)
        gradients |= (of_it := dict.fromkeys(_of_gradients(part, telling), act))
        read = part[0].cause.evidence
        if isinstance(read, VariableHome) and read.gradient_goes_back:
            variables |= {(hop.site, hop.src, hop.dst, hop.shape, hop.producer_op): act for hop in part}
        alone |= of_it if all((hop.via or "").startswith(_ONE_CALL) for hop in _taking(part)) else {}
    lacking |= gradients
    found: dict[Act, list[int]] = {}
    for row in sorted(row for rows in groups.values() for row in rows):
        hop = hops[row]
        back = hop.site, hop.dst, hop.src
        taken = _put_back(hop) and telling.times_a_step(hop)
        whose = (taken and lacking.get(back)) or alone.get(_unplaced(hop)) or variables.get(_copied_back(hop))
        if whose:
            found.setdefault(whose, []).append(row)
    return found


def _copied_back(hop: Hop) -> tuple[str | None, ...]:
    """The copy that autograd recorded of which the backward pass makes this one; () for other transfers."""
    if hop.cause.evidence.call != COPIED_BACK:
        return ()
    return hop.forward_site, hop.dst, hop.src, hop.shape, hop.op.removesuffix(_BACKWARD)


def _lacks_a_scope(part: Sequence[Hop], telling: Telling) -> _Way | None:
    """The line, the one card that what it takes lies on, and where its ops ran; None for other findings."""
    if any(hop.cause.code != "default-device" or hop.cause.blames != "consumer" for hop in part):
        return None
    places = {(hop.site, hop.src, hop.dst) for hop in part}
    loud = any(hop.cause.severity != "info" for hop in part)
    if len(places) != 1 or not loud or not telling.recurring(part) or part[0].site is None:
        return None
    return places.pop()


def _of_gradients(part: Sequence[Hop], telling: Telling) -> list[_Way]:
    """The line of gradients, the cards that they belong to, and where they were computed instead."""
    evidences = [one for hop in part if isinstance(one := hop.cause.evidence, Gradients)]
    if not evidences or part[0].blamed_site is None or not telling.recurring(part):
        return []
    computed_on = {device for one in evidences for device in each(one.default_device)}
    wanted = {device for one in evidences for device in one.forward_devices}
    return [(part[0].blamed_site, card, there) for card in wanted for there in computed_on]


def _put_back(hop: Hop) -> bool:
    """Whether an assignment takes to its variable what an op made at its line, which nobody placed."""
    evidence = hop.cause.evidence
    return (
        hop.cause.code == "colocation"
        and bool(evidence.colocated_with)
        and not evidence.requested
        and not evidence.producer_requested
        and hop.op.startswith(CHANGES)
        and hop.producer_site == hop.site
        and hop.producer_op not in _NOT_OF_THE_LINE
        and "Call" not in hop.producer_op
    )


def _taking(part: Sequence[Hop]) -> list[Hop]:
    """The transfers to gradients, whose line they are told at; else all of them."""
    return [hop for hop in part if hop.cause.blames != "producer"] or list(part)


def _unplaced(hop: Hop) -> _Way:
    """The line of an op that nobody placed, the card that it is away from, and where it ran, if any."""
    evidence = hop.cause.evidence
    sent_again = isinstance(evidence, Redundant) and evidence.sent_again and not evidence.requested
    if hop.cause.code != "default-device" and not sent_again:
        return None, "", ""
    by_producer = hop.cause.blames == "producer"
    return (hop.producer_site, hop.dst, hop.src) if by_producer else (hop.site, hop.src, hop.dst)
