"""What a finding rests on, as an expert would lay it out: the way of its tensors, then what decided."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence

from app.diagnosis.causes.bounce.paths import Evidence as Bounce
from app.diagnosis.causes.gradient_outside_scope.cause import Evidence as Gradients
from app.diagnosis.causes.missing_device.cause import Evidence as MissingDevice
from app.diagnosis.proof_facts import Fact, Place, facts_of
from app.diagnosis.row_shares import part_of
from app.diagnosis.wording.scope_openers import purpose
from app.facts.basis import total, weakest
from app.facts.devices import is_host
from app.facts.groups import grouped
from app.facts.transfers.hops import Hop
from app.judgments.evidence import HostReadEvidence, Known, TransferEvidence
from app.judgments.finding import Finding
from app.views import units
from probes.trace.hop import HANDED_TO_FUNCTION, HANDED_TO_OPERATOR, MAKE_ROOM

MOST_WAYS = 3
"""Ways that are laid out; a finding of many tensors seldom has more kinds of them."""
_HANDED_OVER = "Handed over by"
_ROLES = dict.fromkeys(MAKE_ROOM, "Room made by") | dict.fromkeys(
    (HANDED_TO_FUNCTION, HANDED_TO_OPERATOR), _HANDED_OVER
)
"""What producers do of whom nobody knows that they made the value."""
_BY_CALL, _DEFAULT, _HOST_MEMORY = "where its function is called", "the default", "host memory"
_NOT_KNOWN = frozenset({"", "?"})
_WORDS = {
    "_Arg": "an argument of the call",
    "_Retval": "the call's result",
    "Python": "Python's or numpy's data",
    HANDED_TO_FUNCTION: "the call of a Python function",
    HANDED_TO_OPERATOR: "the call of an operator in Python",
    "gradient": "a backward pass",
    **dict.fromkeys(
        (f"{name} (backward)" for name in ("_copyto", "_np_copyto", "_npi_copyto")), "the backward pass"
    ),
}
"""Ops that stand for something else, in words."""
PlaceOf = Callable[[str | None], Place | None]


@dataclasses.dataclass(frozen=True)
class Stop:
    """What makes a tensor, hands it on or takes it."""

    role: str
    op: str
    """Its type, or what it stands for in words; '' where not known."""
    at: Place | None
    requested: str | None
    """Device that the code asked for, '' for none; None where that is not known."""
    scope: Place | None
    """The line that asked."""
    opener: str
    """Whose scope that is and what for, in words, where a library opened it; '' for the code's own."""
    device: str
    """The one that it ran on."""
    why: str
    """Why it ran there, in a few words; '' where that says nothing more."""


@dataclasses.dataclass(frozen=True)
class Way:
    """The stops of equal transfers, or of a chain of them."""

    stops: tuple[Stop, ...]
    moved: str
    """How much went that way, in words."""


@dataclasses.dataclass(frozen=True)
class Proof:
    """All of it, ready to be told."""

    ways: tuple[Way, ...]
    left_out: int
    """Ways that are not laid out."""
    facts: tuple[Fact, ...]

    def lines(self) -> list[str]:
        """As plain text, a line each."""
        told = []
        for way in self.ways:
            told += [f"{way.moved}:"] if way.moved else []
            told += [f"  {_stop_line(stop)}" for stop in way.stops]
        if self.left_out:
            told.append(f"and {units.plural(self.left_out, 'other way')}")
        return told + [fact.line() for fact in self.facts]


def proof(finding: Finding, hops: Sequence[Hop], code_of: Callable[[str], str]) -> Proof:
    """Of a finding whose `hops` are rows of this table; `code_of` gives the text of a line, '' for none."""

    def place_of(site: str | None) -> Place | None:
        return Place(site, code_of(site)) if site else None

    part = part_of(finding, hops)
    evidence = finding.evidence
    if isinstance(evidence, Bounce) and evidence.stations:
        ways = _chains(evidence, part, place_of)
    else:
        ways = _ways(part, place_of)
    return Proof(
        tuple(ways[:MOST_WAYS]),
        max(0, len(ways) - MOST_WAYS),
        tuple(
            facts_of(
                finding.code, evidence.row(), place_of, weakest(hop.basis for hop in part) if part else ""
            )
        ),
    )


def _ways(part: Sequence[Hop], place_of: PlaceOf) -> list[Way]:
    """One way for all transfers with the same ends, those that moved most first."""
    alike = grouped(((_made(hop, place_of), _taken(hop, place_of)), hop) for hop in part)
    found = sorted(alike.items(), key=lambda item: -sum(hop.bytes_total or 0 for hop in item[1]))
    return [Way(stops, _moved(same)) for stops, same in found]


def _chains(evidence: Bounce, part: Sequence[Hop], place_of: PlaceOf) -> list[Way]:
    """The way that all its tensors take; of several cards in turn each one's."""
    ways = [
        _chain(stations, evidence.lines, part, place_of) for stations in evidence.ways or [evidence.stations]
    ]
    found = [way for way in ways if way is not None]
    return found if len(found) == len(ways) else _ways(part, place_of)


def _chain(
    stations: Sequence[str], sites: Sequence[str | None], part: Sequence[Hop], place_of: PlaceOf
) -> Way | None:
    """By what the first of its tensors passes at each station."""
    legs: list[list[Hop]] = []
    for number, pair in enumerate(itertools.pairwise(stations)):
        site = sites[number] if number < len(sites) else None
        legs.append([hop for hop in part if (hop.src, hop.dst) == pair and hop.site == site])
    if not all(legs):
        return None
    stops = [_made(legs[0][0], place_of)]
    for number, leg in enumerate(legs, 1):
        taken = _taken(leg[0], place_of)
        last = number == len(legs)
        stops.append(taken if last else dataclasses.replace(taken, role="Handed on by"))
    out, back = _leg(legs[0]), _leg(legs[-1])
    moved = f"{out} on each leg" if out == back else f"{out} on the first leg, {back} on the last"
    return Way(tuple(stops), moved)


def _made(hop: Hop, place_of: PlaceOf) -> Stop:
    evidence, unknown = hop.cause.evidence, hop.producer_op in _NOT_KNOWN
    by_python = hop.kind == "upload" or hop.producer_op == "Python"
    backward = isinstance(evidence, Gradients) and evidence.producer_forward_requested
    default = evidence.default_device if backward else evidence.producer_default_device
    beside = evidence.producer_placed_beside or evidence.producer_colocated_with
    by_call = _placed_by_call(evidence, "producer", hop.src)
    why = _first(
        (by_call, _BY_CALL),
        (hop.src == default, _DEFAULT),
        (beside, f"beside {beside}"),
        (evidence.variable and hop.src == evidence.lives_on, "where the variable lives"),
        (hop.src_memory == "host" and not is_host(hop.src), _HOST_MEMORY),
    )
    named = "Python" if by_python else hop.producer_op
    return Stop(
        _ROLES.get(hop.producer_op, "Made by"),
        "" if unknown else _WORDS.get(named, named),
        place_of(hop.producer_site),
        # None is told only where the finding rests on it: elsewhere it may be that nobody looked.
        _text(evidence.producer_requested) or ("" if why == _DEFAULT or beside else None),
        place_of(_text(evidence.producer_scope)),
        _opened(evidence.producer_scope_opener),
        hop.src,
        why,
    )


def _taken(hop: Hop, place_of: PlaceOf) -> Stop:
    evidence = hop.cause.evidence
    if hop.kind == "pull":
        by = _text(evidence.taken_by) if isinstance(evidence, HostReadEvidence) else ""
        op = f"Python, by {by}" if by else "Python"
        return Stop("Taken by", op, place_of(hop.site), None, None, "", hop.dst, "")
    backward = isinstance(evidence, Gradients) and evidence.producer_forward_requested
    by_default = not backward and hop.dst == evidence.default_device
    asked = _text(evidence.requested)
    by_call = not asked and _placed_by_call(evidence, "consumer", hop.dst)
    missing = isinstance(evidence, MissingDevice) and evidence.missing == asked
    why = _first(
        (by_call, _BY_CALL),
        (by_default, _DEFAULT),
        (evidence.colocated_with, f"beside {evidence.colocated_with}"),
        (asked and missing, f"{asked} does not exist here"),
        (hop.dst_memory == "host" and not is_host(hop.dst), _HOST_MEMORY),
    )
    return Stop(
        "Taken by",
        _WORDS.get(hop.op, hop.op),
        place_of(hop.site),
        asked or ("" if why == _DEFAULT else None),
        place_of(_text(evidence.scope)),
        _opened(evidence.scope_opener),
        hop.dst,
        why,
    )


def _first(*reasons: tuple[object, str]) -> str:
    """The words of the first reason that holds; '' for none."""
    return next((words for holds, words in reasons if holds), "")


def _placed_by_call(evidence: TransferEvidence, role: str, device: str) -> bool:
    """Whether an end lies there because the scope around its function's call names that device."""
    return role in (evidence.placed_by_call or ()) or evidence.called_on == device


def _opened(opener: Known[str]) -> str:
    return purpose(text) if (text := _text(opener)) else ""


def _leg(part: Sequence[Hop]) -> str:
    """Of what one line moves that is alike, whichever ops made it: one size and how often."""
    if len({(hop.op, hop.bytes) for hop in part}) == 1 and not any(any(hop.graphs) for hop in part):
        return f"{units.size(part[0].bytes)} {units.TIMES} {units.count(total(hop.count for hop in part))}"
    return _moved(part)


def _moved(part: Sequence[Hop]) -> str:
    count = total(hop.count for hop in part)
    if len(part) == 1:
        return f"{units.size(part[0].bytes)} {units.TIMES} {units.count(count)}"
    moved = total(hop.bytes_total for hop in part)
    return f"{units.plural(len(part), 'tensor')}, {units.size(moved)} in {units.plural(count, 'transfer')}"


def _text(value: Known[str]) -> str:
    return value if isinstance(value, str) else ""


def _stop_line(stop: Stop) -> str:
    asked = ""
    if stop.requested is not None:
        asked = f", asked for {stop.requested or 'no device'}"
        asked += f" at {stop.scope.line()}" if stop.scope else ""
        asked += f" ({stop.opener})" if stop.opener else ""
    where = f" at {stop.at.line()}" if stop.at else ""
    why = f" ({stop.why})" if stop.why else ""
    lay = "lay" if stop.role == _HANDED_OVER else "ran"
    return f"{stop.role} {stop.op or 'something not known'}{where}{asked}, {lay} on {stop.device}{why}"
