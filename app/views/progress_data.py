"""What the loss and speed curves are drawn from."""

from __future__ import annotations

import dataclasses

RECENT_LINES = 10
"""Over how many progress lines the present speed is taken: a single one jumps about."""


@dataclasses.dataclass(frozen=True)
class Progress:
    """A program's own progress lines, equally long tuples in order of step."""

    steps: tuple[int, ...]
    loss: tuple[float | None, ...]
    rate: tuple[float | None, ...]
    """Steps a second."""
    total: int | None = None
    """Steps that the program means to take."""

    @property
    def recent_rate(self) -> float | None:
        """Steps a second over the last `RECENT_LINES` lines; None when none tells a speed.

        The first line counts only while it is the only one: its step has the tracing in it.
        """
        rows = zip(self.steps[:-1], self.steps[1:], self.rate[1:], strict=True)
        told = [(step - last, rate) for last, step, rate in rows if rate and step > last][-RECENT_LINES:]
        if not told:
            return next((rate for rate in reversed(self.rate) if rate is not None), None)
        return sum(steps for steps, _ in told) / sum(steps / rate for steps, rate in told)
