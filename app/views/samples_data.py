"""What the tracks of sampled figures are drawn from: utilisation, memory, power, CPU over time."""

from __future__ import annotations

import dataclasses

UTILIZATION, MEMORY, POWER = "utilization_gpu_percent", "memory_used_bytes", "power_watts"
THROTTLED = "throttle_reasons"
CPU, RUN_MEMORY = "cpu_percent", "memory_bytes"


@dataclasses.dataclass(frozen=True)
class Sampled:
    """One thing that was sampled: a card, the machine, or the run's own processes."""

    id: str
    """A card's UUID, ``host`` or ``run``."""
    devices: tuple[str, ...] = ()
    """The run's devices that the card is; none where that is not known."""
    index: int | None = None
    """The card's number in nvidia-smi."""
    name: str = ""
    memory_total_bytes: float | None = None
    power_limit_watts: float | None = None
    cores: int | None = None

    @property
    def is_card(self) -> bool:
        """Whether it is a card, and not the machine or the run."""
        return self.id not in ("host", "run")

    @property
    def label(self) -> str:
        """What it is called: ``gpu:0``, ``nvidia-smi's 2``, ``machine``, ``run``."""
        if self.devices:
            return ", ".join(self.devices)
        if self.is_card:
            return "a card" if self.index is None else f"nvidia-smi's {self.index}"
        return "machine" if self.id == "host" else "run"

    @property
    def legend(self) -> str:
        """Its label, with the card's number in nvidia-smi where that is another: ``gpu:0 (GPU 2)``."""
        other = self.devices and self.index is not None and not self.label.endswith(f":{self.index}")
        return f"{self.label} (GPU {self.index})" if other else self.label


@dataclasses.dataclass(frozen=True)
class Curve:
    """One figure of one source, a value for each time of its `Samples`; None where there is none."""

    source: Sampled
    field: str
    values: tuple[float | None, ...]
    highest: tuple[float | None, ...] = ()
    """Where each value is the mean of several samples, the highest of them."""


@dataclasses.dataclass(frozen=True)
class Samples:
    """A stretch of the run. Where samples are missing stands a time at which no curve has a value."""

    t_s: tuple[float, ...]
    """Seconds since the run's start."""
    curves: tuple[Curve, ...]
    every_s: float
    """How long from one sample to the next; the longest, since in a long run they become more seldom."""
    mean_of_s: float | None = None
    """How long a stretch each value is the mean of; None where each is one sample."""
    throttled: tuple[tuple[Sampled, tuple[str, ...]], ...] = ()
    """Each card with what throttled it at each time, '' for nothing."""

    def of(self, field: str, *, cards: bool) -> list[Curve]:
        """The curves of one figure, of cards or of the others, that have a value anywhere."""
        return [
            curve
            for curve in self.curves
            if curve.field == field
            and curve.source.is_card == cards
            and any(value is not None for value in curve.values)
        ]
