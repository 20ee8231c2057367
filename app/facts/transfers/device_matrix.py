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
    found: dict[tuple[str, str], dict[tuple[str, str], list[tuple[int | None, int | None, str]]]] = {}
    for one in collectives:
        if one.count == 0 or not wire.beside_hops(one.op, one.algorithm):
            continue
        for pair, part in wire.shares(one.devices, one.wire_bytes, one.algorithm).items():
            size = None if part is None or one.count is None else part * one.count
            kinds = found.setdefault(pair, {})
            kinds.setdefault((wire.kind(one.op), one.algorithm), []).append((size, one.count, one.basis))
    return {
        pair: tuple(
            CollectiveShare(
                name,
                algorithm,
                total(size for size, _, _ in parts),
                total(count for _, count, _ in parts),
                weakest(basis for _, _, basis in parts),
            )
            for (name, algorithm), parts in kinds.items()
        )
        for pair, kinds in found.items()
    }


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
