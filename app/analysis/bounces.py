"""Chains as findings: the tensors that take the same way, by the same lines, are one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.analysis import advice
from app.analysis.chains import Chain
from app.analysis.devices import is_host
from app.analysis.finding import Finding
from app.analysis.hops import Hop
from app.analysis.matrix import total
from app.analysis.naming import some_of
from app.analysis.severity import SEVERITY
from app.analysis.shares import abreast, share
from app.analysis.syncs import Sync
from app.analysis.telling import Telling, cost_ns, standstill, waited
from app.analysis.transfer import TINY, happened_often
from app.views import units

CODE = "bounce"
_EXPLAINED = frozenset(
    {"explicit", "default-device", "host-sync", "host-upload", "redundant-copy", "unknown"}
)
"""Causes of hops that being a part of a chain says more than; any other is the mistake itself."""
_SCOPES = ("scope", "producer_scope")
_OPS_NAMED = 3


def bounces(
    found: Sequence[Chain], hops: Sequence[Hop], syncs: Sequence[Sync], telling: Telling
) -> list[Finding]:
    """One finding for all chains that leave and come by the same lines; its `hops` are those of them all.

    They may be of several cards in turn. Of a row that went that way at times only, as many transfers as
    did are the finding's.
    """
    groups: dict[tuple[str | int | None, ...], list[Chain]] = {}
    for chain in found:
        if all(hops[row].cause.code in _EXPLAINED for row in chain.rows) and not _of_more(chain, hops):
            groups.setdefault((*(hops[row].site for row in chain.rows), *_kind_of_way(chain)), []).append(
                chain
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
    if first.cause.evidence.get("result_of_a_call"):
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
    """Of chains that are alike; `left` are the rows of no chain."""
    shares = _shares(chains, hops)
    back = _back(shares, left)
    rows = (*shares, *back)
    part = [*shares.values(), *back.values()]
    first, last = hops[chains[0].rows[0]], hops[chains[0].rows[-1]]
    ways: dict[tuple[str, ...], list[Chain]] = {}
    for chain in chains:
        ways.setdefault(chain.stations, []).append(chain)
    last_rows = {chain.rows[-1] for chain in chains}
    taken = {(hop.src, hop.site) for hop in part if hop.kind == "pull"}
    waits = [sync for sync in syncs if (sync.waited_for, sync.site) in taken]
    ops = [hop.op for row, hop in shares.items() if row not in last_rows]
    evidence: dict[str, Any] = {
        "stations": list(chains[0].stations),
        "lines": [hops[row].site for row in chains[0].rows],
        "by": list(dict.fromkeys(ops))[:_OPS_NAMED],
        "tensors": len(chains),
        "causes": list(dict.fromkeys(hop.cause.code for hop in part)),
        "transfers": total(hop.count for hop in part),
        "bytes": total(hop.bytes_total for hop in part),
    } | (waited(waits) if waits else {})
    if len(ways) > 1:
        evidence["ways"] = [list(stations) for stations in ways]
    if back:
        evidence["gradients_back_at"] = list(dict.fromkeys(hop.site for hop in back.values()))
    if first.kind == "pull" and last.kind != "upload" and last.producer_site:
        evidence["tensor_again_at"] = last.producer_site
    if last.op == "_Retval":
        evidence["result_of_a_call"] = True
        if called := next((one for hop in part if (one := hop.cause.evidence.get("called_on"))), None):
            evidence["called_on"] = called
    scopes = [hop.cause.evidence[name] for hop in part for name in _SCOPES if hop.cause.evidence.get(name)]
    if scopes:
        evidence["scopes"] = list(dict.fromkeys(scopes))
    recurs = bool(telling.recurring(part))
    # Nor is it a warning where nobody knows how much goes there and back.
    tiny = all(hop.bytes is None or hop.bytes <= TINY for hop in part)
    # A detour is a mistake in an evaluation too, so its count is enough.
    often = any(
        all(happened_often(hop.count, telling.rounds) for hop in _shares(alike, hops).values())
        for alike in ways.values()
    )
    seldom = telling.rounds > 1 and not recurs and not often
    severity = "info" if tiny or seldom else SEVERITY[CODE]
    along = ", its gradients the same way back among them" if back else ""
    cost = f"{telling.cost(part)}{along}{telling.copying(part)}{standstill(waits)}"
    summary = f"{_told(ways, first, last)}: {cost}."
    return Finding(
        CODE,
        severity,
        first.site,
        summary,
        evidence,
        advice.fix(CODE, evidence) if severity != "info" or recurs else None,
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


def _back(shares: Mapping[int, Hop], left: Mapping[int, Hop]) -> dict[int, Hop]:
    """The rows by which a backward pass takes the gradients of chains the same way back."""
    ways = {(hop.dst, hop.src, hop.site, hop.bytes, hop.count) for hop in shares.values()}
    return {
        row: hop
        for row, hop in left.items()
        if hop.cause.code == "explicit" and hop.forward_site is not None
        if (hop.src, hop.dst, hop.forward_site, hop.bytes, hop.count) in ways
    }


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


def _told(ways: Mapping[tuple[str, ...], Sequence[Chain]], first: Hop, last: Hop) -> str:
    stations, number = next(iter(ways)), sum(map(len, ways.values()))
    what = "A tensor goes" if number == 1 else f"{units.plural(number, 'tensor')} go"
    way = some_of((" → ".join(way) for way in ways), "ways")
    through = "through Python" if first.kind == "pull" else "unchanged"
    home = "back" if stations[0] == stations[-1] else "on"
    over = ", over the host" if any(map(is_host, stations[1:-1])) and home == "on" else ""
    left, came = first.site or "an unknown line", last.site or "an unknown line"
    lines = f"at {left}" if left == came else f"out at {left} and {home} at {came}"
    return f"{what} {way} {through}{over}, {lines}"
