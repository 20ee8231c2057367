"""What the timeline is drawn from: binned activity of the whole run, and the bars of one window.

Times are seconds since the run's start.
"""

from __future__ import annotations

import dataclasses

COUNTED_S = 0.25
"""Repeated ops, transfers and waits are written down as one count for each stretch this long."""


@dataclasses.dataclass(frozen=True)
class Lane:
    """One row of the timeline."""

    id: str
    label: str
    """``train_step`` for calls, the device for eager ops, hops, syncs and sampled ops."""
    kind: str
    """call, op, hop, sync, collective or node (ops of a sampled profiler window)."""
    device: str | None = None
    """The device whose hue it has; None for calls, which belong to no one device."""
    process: str = ""
    """Process it ran in, '' when the run has only one."""


@dataclasses.dataclass(frozen=True)
class Binned:
    """One lane's activity in equal bins from `t0_s` to `t1_s` of its `Overview`."""

    lane: Lane
    values: tuple[float, ...]
    unit: str
    """``busy`` (fraction of the bin, 0..1), ``ops``, ``transfers`` or ``bytes`` (per bin)."""


@dataclasses.dataclass(frozen=True)
class Phase:
    """A named stretch of the run, such as its start-up, tracing or training."""

    name: str
    t0_s: float
    t1_s: float


@dataclasses.dataclass(frozen=True)
class Overview:
    """The whole run, or the stretch that is looked at, in bins."""

    t0_s: float
    t1_s: float
    lanes: tuple[Binned, ...]
    phases: tuple[Phase, ...] = ()


@dataclasses.dataclass(frozen=True)
class Bar:
    """One event, or several counted together up to `t0_s`."""

    lane: str
    """Id of its lane."""
    t0_s: float
    dur_s: float
    """0 for an instant, drawn as a tick."""
    label: str
    device: str | None = None
    site: str | None = None
    count: int = 1
    step: int | None = None
    bytes: int | None = None
    basis: str = "measured"
    key: int = 0
    """Id of the key it belongs to, handed back on a click."""

    @property
    def counted(self) -> bool:
        """Whether it stands for several instants in the `COUNTED_S` before `t0_s`."""
        return self.dur_s <= 0 and self.count > 1

    @property
    def end_s(self) -> float:
        """When it is over."""
        return self.t0_s + self.dur_s

    @property
    def start_s(self) -> float:
        """Since when it may have happened: a count is written down at the end of its stretch."""
        return max(0.0, self.t0_s - COUNTED_S) if self.counted else self.t0_s


@dataclasses.dataclass(frozen=True)
class Window:
    """The events of one stretch."""

    t0_s: float
    t1_s: float
    lanes: tuple[Lane, ...]
    bars: tuple[Bar, ...]
    total: int
    """Events in the stretch; more than `bars` when only the longest are here."""
