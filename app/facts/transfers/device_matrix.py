"""Who sent how much to whom: the hop table by pairs of devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.facts.basis import total, weakest
from app.facts.collectives import Collective
from app.facts.devices import in_order, is_host
from app.facts.groups import grouped
from app.facts.transfers import wire
from app.facts.transfers.hops import Hop
from app.judgments.severity import RANK
from app.views.matrix_data import Cell, CollectiveShare, Matrix


def device_matrix(
    hops: Sequence[Hop],
    devices: Iterable[str] = (),
    stand_ins: Iterable[str] = (),
    collectives: Sequence[Collective] = (),
) -> Matrix:
    """Bytes and transfers between devices.

    `devices` get a row and a column also when they exchanged nothing. Hops that happened no time are
    left out. Of `collectives`, what no hop stands for is shared out over the pairs of their ring, apart from
    the hops.
    """
    pairs = grouped(((hop.src, hop.dst), index) for index, hop in enumerate(hops) if hop.count != 0)
    shares = _shares(collectives)
    met = {**pairs, **shares}
    ends = {device for pair in met for device in pair}
    order = in_order([*devices, *ends], host_last=True)
    if sum(is_host(device) for device in order) > 1:
        # A process that exchanges nothing with others, and has nothing but its host, only directs them.
        order = [device for device in order if device in ends or not is_host(device)]
    cells = [_cell(*pair, pairs.get(pair, []), hops, shares.get(pair, ())) for pair in met]
    cells.sort(key=lambda cell: (order.index(cell.src), order.index(cell.dst)))
    return Matrix(tuple(order), tuple(cells), frozenset(stand_ins))


def _shares(collectives: Sequence[Collective]) -> dict[tuple[str, str], tuple[CollectiveShare, ...]]:
    """What collectives send beside the hops by pair, one a kind and algorithm."""
    kinds = grouped(
        ((pair, wire.kind(one.op), one.algorithm), (part, one))
        for one in collectives
        if one.count != 0 and wire.beside_hops(one.op, one.algorithm)
        for pair, part in wire.shares(one.devices, one.wire_bytes, one.algorithm).items()
    )
    shares = grouped(
        (
            pair,
            CollectiveShare(
                name,
                algorithm,
                total(
                    None if None in (part, one.count) else (part or 0) * (one.count or 0)
                    for part, one in parts
                ),
                total(one.count for _, one in parts),
                weakest(one.basis for _, one in parts),
            ),
        )
        for (pair, name, algorithm), parts in kinds.items()
    )
    return {pair: tuple(found) for pair, found in shares.items()}


def _cell(
    src: str, dst: str, rows: list[int], hops: Sequence[Hop], collectives: tuple[CollectiveShare, ...]
) -> Cell:
    part = [hops[index] for index in rows]
    return Cell(
        src=src,
        dst=dst,
        bytes=total(hop.bytes_total for hop in part),
        count=total(hop.count for hop in part),
        hops=tuple(rows),
        severity=worst(part),
        bytes_known=sum(hop.bytes_total or 0 for hop in part),
        basis=weakest(hop.basis for hop in part),
        collectives=collectives,
        seconds=total(hop.seconds_total for hop in part) if part else None,
    )


def worst(hops: Iterable[Hop]) -> str:
    """The highest severity among hops."""
    return min((hop.severity for hop in hops), key=lambda severity: RANK.get(severity, 9), default="info")
