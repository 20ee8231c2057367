"""Chains as findings: the tensors that take the same way, by the same lines, are one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from app.diagnosis.causes.bounce.cause import CAUSE, advice
from app.diagnosis.causes.bounce.paths import Chain, Evidence
from app.diagnosis.row_shares import abreast, share
from app.diagnosis.wording.transfer_costs import Telling, cost_ns, standstill, waited
from app.facts.basis import total
from app.facts.devices import is_host
from app.facts.groups import grouped
from app.facts.syncs import Sync
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import TINY, happened_often
from app.judgments.evidence import Moved
from app.judgments.finding import Finding
from app.views import units
from app.views.naming import flat, some_of

_EXPLAINED = frozenset(
    {"explicit", "default-device", "host-sync", "host-upload", "redundant-copy", "unknown"}
)
"""Causes of hops that being a part of a chain says more than; any other is the mistake itself."""
_OPS_NAMED = 3
_SEVERAL = 1.5
"""Ways back for each way out, from which on tensors are fetched more than once."""


def bounces(
    found: Sequence[Chain], hops: Sequence[Hop], syncs: Sequence[Sync], telling: Telling
) -> list[Finding]:
    """One finding for all chains that leave and come by the same lines; its `hops` are those of them all.

    They may be of several cards in turn. Of a row that went that way at times only, as many transfers as
    did are the finding's.
    """
    groups = grouped(
        ((*(hops[row].site for row in chain.rows), *_kind_of_way(chain)), chain)
        for chain in found
        if all(hops[row].cause.code in _EXPLAINED for row in chain.rows) and not _of_more(chain, hops)
    )
    taken = {row for chain in found for row in chain.rows}
    left = {row: hop for row, hop in enumerate(hops) if row not in taken}
    return [_finding(chains, hops, left, syncs, telling) for chains in groups.values()]


def _kind_of_way(chain: Chain) -> tuple[str | int, ...]:
    """Its stations, of cards only which of them are the same one."""
    cards = [device for device in dict.fromkeys(chain.stations) if not is_host(device)]
    return tuple(device if is_host(device) else cards.index(device) for device in chain.stations)


def _of_more(chain: Chain, hops: Sequence[Hop]) -> bool:
    """Whether an op on the default device has other inputs from elsewhere too: then that is the mistake."""
    first = hops[chain.rows[0]]
    if first.cause.evidence.result_of_a_call:
        return False  # each result has an op of its own that hands it on
    return first.cause.code == "default-device" and any(
        hop.cause.code == first.cause.code and hop.site == first.site and row not in chain.rows
        for row, hop in enumerate(hops)
        if hop.count != 0 and (hop.bytes or 0) > TINY
    )


def _finding(
    chains: Sequence[Chain],
    hops: Sequence[Hop],
    left: Mapping[int, Hop],
    syncs: Sequence[Sync],
    telling: Telling,
) -> Finding:
    shares = _shares(chains, hops)
    further = _handed_on(chains, hops, left)
    tensors = _tensors(chains, shares, telling) + len(further)
    shares |= _with_those(further, chains, shares, hops)
    back = _back(shares, left)
    rows = (*shares, *further, *back)
    part = [*shares.values(), *further.values(), *back.values()]
    first, last = hops[chains[0].rows[0]], hops[chains[0].rows[-1]]
    ways = grouped((chain.stations, chain) for chain in chains)
    last_rows = {chain.rows[-1] for chain in chains}
    taken = {(hop.src, hop.site) for hop in part if hop.kind == "pull"}
    waits = [sync for sync in syncs if (sync.waited_for, sync.site) in taken]
    ops = [hop.op for row, hop in shares.items() if row not in last_rows]
    rests_on = [hop.cause.evidence for hop in part]
    returned = last.op == "_Retval"
    made_again = first.kind == "pull" and last.kind != "upload"
    evidence = Evidence(
        stations=list(chains[0].stations),
        lines=[hops[row].site for row in chains[0].rows],
        by=list(dict.fromkeys(ops))[:_OPS_NAMED],
        tensors=tensors,
        causes=list(dict.fromkeys(hop.cause.code for hop in part)),
        moved=Moved(transfers=total(hop.count for hop in part), bytes=total(hop.bytes_total for hop in part)),
        waited=waited(waits) if waits else None,
        further_back_at=list(dict.fromkeys(hop.site for hop in further.values())) or None,
        own_op=next((one.own_op for one in rests_on if one.own_op), None),
        ways=[list(stations) for stations in ways] if len(ways) > 1 else None,
        gradients_back_at=list(dict.fromkeys(hop.site for hop in back.values())) or None,
        tensor_again_at=(last.producer_site or None) if made_again else None,
        result_of_a_call=returned or None,
        called_on=next((one.called_on for one in rests_on if one.called_on), None) if returned else None,
        scopes=flat([scope for one in rests_on for scope in (one.scope, one.producer_scope)]) or None,
    )
    recurs = bool(telling.recurring(part))
    # Nor is it a warning where nobody knows how much goes there and back.
    tiny = all(hop.bytes is None or hop.bytes <= TINY for hop in part)
    # A detour is a mistake in an evaluation too, so its count is enough.
    often = any(
        all(happened_often(hop.count, telling.rounds) for hop in _shares(alike, hops).values())
        for alike in ways.values()
    )
    seldom = telling.rounds > 1 and not recurs and not often
    # A scalar or two, for which Python does not wait, needs no change.
    petty = not waits and all(hop.bytes is not None and hop.bytes <= TINY for hop in part)
    severity = "info" if tiny or seldom else CAUSE.severity
    along = ", its gradients the same way back among them" if back else ""
    uneven = _uneven(chains, shares)
    moved = _in_all(part, telling) if uneven else telling.cost(part)
    cost = f"{moved}{along}{telling.copying(part)}{standstill(waits)}"
    summary = f"{_told(ways, first, last, further.values(), tensors, uneven)}: {cost}."
    return Finding(
        CAUSE.code,
        severity,
        first.site,
        summary,
        evidence,
        advice(evidence) if severity != "info" or (recurs and not petty) else None,
        rows,
        recurs,
        sum(hop.bytes_total or 0 for hop in part),
        cost_ns(part, waits),
        shares={
            row: hop.count
            for row, hop in shares.items()
            if hop.count is not None and hop.count != hops[row].count
        },
    )


def _tensors(chains: Sequence[Chain], shares: Mapping[int, Hop], telling: Telling) -> int:
    """How many tensors take the way in a step; what did so before the first one is none of them.

    A graph's edge is one, an eager line may send several that are alike.
    """
    first = [shares[row] for row in dict.fromkeys(chain.rows[0] for chain in chains)]
    recurring = telling.recurring(first)
    by_line = [hop for hop in recurring if not any(hop.graphs) and telling.in_steps(hop)]
    sent = sum(map(telling.times_a_step, by_line))
    return len(recurring) - len(by_line) + round(sent) or len(chains)


def _uneven(chains: Sequence[Chain], shares: Mapping[int, Hop]) -> tuple[int, int] | None:
    """How often tensors went out and came back, where each came back several times; None for others."""
    if any(len(chain.rows) != 2 or any(shares[chain.rows[0]].graphs) for chain in chains):
        return None
    went = total(shares[row].count for row in {chain.rows[0] for chain in chains})
    came = total(shares[row].count for row in {chain.rows[1] for chain in chains})
    return (went, came) if went and came and came >= _SEVERAL * went else None


def _in_all(part: Sequence[Hop], telling: Telling) -> str:
    """What is moved by tensors that are fetched again and again: more in one step than in another."""
    moved = total(hop.bytes_total for hop in part)
    if moved is None or not telling.rounds:
        return telling.cost(part)
    mean = (
        f", about {units.size(round(moved / telling.rounds))} a step"
        if telling.rounds > 1 and telling.word == "step"
        else ""
    )
    return f"{units.size(moved)} in the whole run{mean}"


def _back(shares: Mapping[int, Hop], left: Mapping[int, Hop]) -> dict[int, Hop]:
    """The rows by which a backward pass takes the gradients of chains the same way back."""
    ways = {(hop.dst, hop.src, hop.site, hop.bytes, hop.count) for hop in shares.values()}
    return {
        row: hop
        for row, hop in left.items()
        if hop.cause.code == "explicit" and hop.forward_site is not None
        if (hop.src, hop.dst, hop.forward_site, hop.bytes, hop.count) in ways
    }


def _handed_on(chains: Sequence[Chain], hops: Sequence[Hop], left: Mapping[int, Hop]) -> dict[int, Hop]:
    """What else the op hands on that chains go by and nobody placed: the same way back, to other lines."""
    by = {
        (hop.op, hop.site, hop.dst, hop.src, hop.bytes)
        for chain in chains
        for row in chain.rows[:-1]
        if _by_default(hop := hops[row])
    }
    return {
        row: hop
        for row, hop in left.items()
        if hop.count and _by_default(hop)
        if (hop.producer_op, hop.producer_site, hop.src, hop.dst, hop.bytes) in by
    }


def _by_default(hop: Hop) -> bool:
    """Whether nobody placed an op of the hop's, and it is no result that a function hands out."""
    return hop.cause.code == "default-device" and not hop.cause.evidence.result_of_a_call


def _with_those(
    further: Mapping[int, Hop], chains: Sequence[Chain], shares: Mapping[int, Hop], hops: Sequence[Hop]
) -> dict[int, Hop]:
    """The rows by which chains go out, each with what went out to come back by `further` as well."""
    grown: dict[int, Hop] = {}
    for row in dict.fromkeys(row for chain in chains for row in chain.rows[:-1]):
        hop, count = hops[row], shares[row].count
        of_it = [on for on in further.values() if (on.producer_op, on.producer_site) == (hop.op, hop.site)]
        if of_it and hop.count is not None and count is not None:
            grown[row] = share(hop, min(hop.count, count + sum(on.count or 0 for on in of_it)), hop)
    return grown


def _shares(chains: Sequence[Chain], hops: Sequence[Hop]) -> dict[int, Hop]:
    """The rows of chains, each with the count, and the pace, of what took their way."""
    found: dict[int, Hop] = {}
    for chain in chains:
        legs = []
        for place, (row, count) in enumerate(zip(chain.rows, chain.counts, strict=True)):
            then = hops[chain.rows[min(place + 1, len(chain.rows) - 1)]]
            legs.append(hops[row] if count is None else share(hops[row], count, then))
        for row, leg in zip(chain.rows, abreast(legs), strict=True):
            found.setdefault(row, leg)
    return found


def _told(
    ways: Mapping[tuple[str, ...], Sequence[Chain]],
    first: Hop,
    last: Hop,
    further: Collection[Hop],
    number: int,
    uneven: tuple[int, int] | None,
) -> str:
    stations = next(iter(ways))
    what = "A tensor goes" if number == 1 else f"{units.plural(number, 'tensor')} go"
    way = some_of((" → ".join(way) for way in ways), "ways")
    through = "through Python" if first.kind == "pull" else "unchanged"
    home = "back" if stations[0] == stations[-1] else "on"
    over = ", over the host" if any(map(is_host, stations[1:-1])) and home == "on" else ""
    left, came = first.site or "an unknown line", last.site or "an unknown line"
    lines = some_of(dict.fromkeys([came, *(hop.site or came for hop in further)]), "lines")
    lines = f"at {left}" if left == lines else f"out at {left} and {home} at {lines}"
    if uneven is not None:
        lines = f"out at {left}, {units.times(uneven[0])}, and {home} at {came}, {units.times(uneven[1])}"
        what = "Tensors go"
    return f"{what} {way} {through}{over}, {lines}"
