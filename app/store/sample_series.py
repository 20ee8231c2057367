"""Samples as curves of a stretch: as they are where there are few, else means of equal stretches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from app.store.sample_parsing import HOST, RUN, THROTTLE, Numbers, SampleTable, Source
from app.views.samples_data import CPU, MEMORY, POWER, RUN_MEMORY, UTILIZATION, Curve, Sampled, Samples

LATE = 1.75
"""A sample that comes so many times later than it should have: one before it is missing."""
MOST_POINTS = 200
CARD_CURVES = (UTILIZATION, MEMORY, POWER)
OTHER_CURVES = {HOST: (CPU, MEMORY), RUN: (CPU, RUN_MEMORY)}


def series(
    samples: SampleTable,
    t_s: Numbers,
    devices: Mapping[str, Sequence[str]],
    stretch: tuple[float, float] | None = None,
    points: int = MOST_POINTS,
) -> Samples:
    """The curves of the whole run, or of a stretch of it with the samples just beside it.

    `t_s` is when each row was sampled; `devices` has the run's names of each card that has any. Of more than
    twice `points` samples the means of equal stretches are given. Where a sample is missing, or all of a
    stretch, stands a gap.
    """
    rows = np.argsort(t_s, kind="stable")
    if stretch is not None and len(rows):
        first, last = np.searchsorted(t_s[rows], stretch, side="left")
        rows = rows[max(0, int(first) - 1) : int(last) + 1]
    times, every = t_s[rows], samples.every_s[rows]
    shape: _Shape = _Means(times, every, points) if len(rows) > 2 * points else _AsIs(times, every)
    sources = [sampled(samples.sources[name], devices.get(name, ())) for name in _in_order(samples, devices)]
    return Samples(
        t_s=tuple(np.round(shape.t_s, 3).tolist()),
        curves=tuple(
            Curve(source, field, _values(shape.values(column)), _values(shape.highest(column)))
            for source in sources
            for field in OTHER_CURVES.get(source.id, CARD_CURVES)
            for column in [samples.column(source.id, field)[rows]]
        ),
        every_s=float(every.max()) if len(rows) else 1.0,
        mean_of_s=shape.width_s,
        throttled=tuple(
            (source, _words(samples, shape.highest(column) if shape.width_s else shape.values(column)))
            for source in sources
            if source.is_card
            for column in [samples.column(source.id, THROTTLE)[rows]]
        ),
    )


def _in_order(samples: SampleTable, devices: Mapping[str, Sequence[str]]) -> list[str]:
    """The run's cards in the order of its devices, then others as nvidia-smi counts, machine and run last."""
    places = {name: place for place, name in enumerate(devices)}

    def place(name: str) -> tuple[int, float, str]:
        index = samples.sources[name].facts.get("index", math.inf)
        return (places.get(name, len(places) + (name in OTHER_CURVES)), index, name)

    return sorted(samples.sources, key=place)


def sampled(source: Source, devices: Sequence[str]) -> Sampled:
    """A source as the views know it."""
    facts = source.facts
    return Sampled(
        source.id,
        tuple(devices),
        None if facts.get("index") is None else int(facts["index"]),
        str(facts.get("name") or ""),
        facts.get("memory_total_bytes"),
        facts.get("power_limit_watts"),
        None if facts.get("cpu_cores") is None else int(facts["cpu_cores"]),
    )


class _Shape(Protocol):
    """How columns of samples become values that are drawn."""

    t_s: Numbers
    width_s: float | None

    def values(self, column: Numbers) -> Numbers: ...
    def highest(self, column: Numbers) -> Numbers: ...


class _AsIs:
    """Each sample by itself, and a time without a value where one is missing."""

    width_s: float | None = None

    def __init__(self, times: Numbers, every: Numbers) -> None:
        self._gaps = np.flatnonzero(np.diff(times) > LATE * every[1:]) + 1
        self.t_s: Numbers = np.insert(times, self._gaps, (times[self._gaps - 1] + times[self._gaps]) / 2)

    def values(self, column: Numbers) -> Numbers:
        """Return the samples."""
        gapped: Numbers = np.insert(column, self._gaps, np.nan)
        return gapped

    def highest(self, column: Numbers) -> Numbers:
        """Return nothing: no value stands for several."""
        return np.empty(0)


class _Means:
    """The mean of each of equal stretches; one without a sample has no value."""

    def __init__(self, times: Numbers, every: Numbers, points: int) -> None:
        span = float(times[-1] - times[0]) or 1.0
        # Of less than two samples a stretch would have none now and then by chance.
        self._bins = max(1, min(points, int(span / (2 * float(every.max())))))
        self.width_s: float | None = span / self._bins
        self._at = np.minimum((times - times[0]) / span * self._bins, self._bins - 1).astype(np.int64)
        self.t_s: Numbers = times[0] + (np.arange(self._bins) + 0.5) * span / self._bins

    def values(self, column: Numbers) -> Numbers:
        """Return the means."""
        there = ~np.isnan(column)
        number = np.bincount(self._at[there], minlength=self._bins)
        total = np.bincount(self._at[there], weights=column[there], minlength=self._bins)
        means: Numbers = np.divide(total, number, out=np.full(self._bins, np.nan), where=number > 0)
        return means

    def highest(self, column: Numbers) -> Numbers:
        """Return the highest of each stretch."""
        there = ~np.isnan(column)
        result = np.full(self._bins, -np.inf)
        np.maximum.at(result, self._at[there], column[there])
        return np.where(np.isinf(result), np.nan, result)


def _values(column: Numbers) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else value for value in np.round(column, 3).tolist())


def _words(samples: SampleTable, column: Numbers) -> tuple[str, ...]:
    return tuple(samples.reasons[int(value)] if value >= 0 else "" for value in column.tolist())
