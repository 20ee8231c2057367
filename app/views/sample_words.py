"""Samples in words: what each thing was at one moment."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from app.views import units
from app.views.samples_data import CPU, MEMORY, POWER, RUN_MEMORY, UTILIZATION, Curve, Sampled, Samples
from probes.nvml.words import HARMFUL_REASONS


class Moments:
    """Finds the samples of moments."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        # Where samples are missing stands a time without any value.
        there = [
            any(values) for values in zip(*(map(_is, curve.values) for curve in samples.curves), strict=True)
        ]
        self._places = [place for place, any_value in enumerate(there) if any_value]
        self._times = [samples.t_s[place] for place in self._places]

    def within(self, t0_s: float, t1_s: float) -> int:
        """How many there are in a stretch, its ends included."""
        return bisect.bisect_right(self._times, t1_s) - bisect.bisect_left(self._times, t0_s)

    def nearest(self, t_s: float, reach_s: float) -> float | None:
        """When the sample nearest to a time was taken; None where none is within `reach_s`."""
        found = self._nearest(t_s, reach_s)
        return None if found is None else self._times[found]

    def told(self, t_s: float, reach_s: float) -> list[str]:
        """What was sampled nearest to a time, a line a source; none where no sample is within `reach_s`."""
        found = self._nearest(t_s, reach_s)
        if found is None:
            return []
        place = self._places[found]
        lines: dict[Sampled, list[str]] = {}
        for curve in self._samples.curves:
            value = drawn_values(curve)[place]
            if value is not None:
                lines.setdefault(curve.source, []).append(_figure(curve, value))
        for card, words in self._samples.throttled:
            if words[place] and card in lines:
                lines[card].append(f"slowed down: {words[place]}")
        return [f"{source.label}: {', '.join(figures)}" for source, figures in lines.items()]

    def _nearest(self, t_s: float, reach_s: float) -> int | None:
        after = bisect.bisect_left(self._times, t_s)
        close = [
            (abs(self._times[place] - t_s), place)
            for place in (after - 1, after)
            if 0 <= place < len(self._times) and abs(self._times[place] - t_s) <= reach_s
        ]
        return min(close)[1] if close else None


def drawn_values(curve: Curve) -> Sequence[float | None]:
    """The values that count: of memory the most, since that is what runs out."""
    return curve.highest if curve.highest and curve.field in (MEMORY, RUN_MEMORY) else curve.values


def harmful(words: str) -> bool:
    """Whether what throttled a card tells of a fault or of heat, not of a setting or its power limit."""
    return any(harm in words for harm in HARMFUL_REASONS)


def percent(value: float) -> str:
    """``57 %``."""
    return f"{value:.0f} %"


def watts(value: float) -> str:
    """``212 W``."""
    return f"{value:.0f} W"


def _figure(curve: Curve, value: float) -> str:
    if curve.field == UTILIZATION:
        return percent(value)
    if curve.field == POWER:
        return watts(value)
    if curve.field == CPU:
        return f"CPU {percent(value)}"
    return f"{units.size(value)}{' used' if curve.source.id == 'host' else ''}"


def _is(value: float | None) -> bool:
    return value is not None
