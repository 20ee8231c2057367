"""What the device x device matrix is drawn from: who sent how much to whom in the whole run so far."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class CollectiveShare:
    """What one kind of collective sends from one device to another, in the whole run so far."""

    name: str
    """``all-reduce``."""
    algorithm: str
    bytes: int | None
    """None when its size or count is not known."""
    count: int | None
    basis: str = "estimated"


@dataclasses.dataclass(frozen=True)
class Cell:
    """All transfers from one device to another; from a device to itself when they change its memory."""

    src: str
    dst: str
    bytes: int | None
    """Bytes of the whole run; None when some transfer's size or count is not known."""
    count: int | None
    """Transfers in the whole run; None when some count is not known."""
    hops: tuple[int, ...] = ()
    """Row numbers in the hop table."""
    severity: str = "info"
    """error, warning or info: the worst in it."""
    bytes_known: int = 0
    """What of the bytes is known, a lower bound when `bytes` is None."""
    basis: str = "inferred"
    """Basis of the bytes: the weakest of the hops'."""
    collectives: tuple[CollectiveShare, ...] = ()
    """What collectives move between the two beside the hops; not in the fields above."""
    seconds: float | None = None
    """What the hops take, estimated from copies measured on the machine; None where that is not known."""


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Rows send, columns receive; pairs without a cell exchanged nothing."""

    devices: tuple[str, ...]
    """Order of rows and columns, the host last."""
    cells: tuple[Cell, ...]
    stand_ins: frozenset[str] = frozenset()
    """Devices that only play GPUs."""
