"""What the memory figure is drawn from."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class MemorySeries:
    """Bytes over time on one device, with what they rest on."""

    device: str
    what: str
    """in_use or peak."""
    basis: str
    """measured, estimated or unsupported."""
    why: str
    """For an estimate how, for unsupported why; '' when measured."""
    t_s: tuple[float, ...]
    """Seconds since the run's start."""
    bytes: tuple[int, ...]
