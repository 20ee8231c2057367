"""Samples over a long time as fewer points: means over equal stretches, gaps left as gaps."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Collection, Sequence
from typing import Any

History = dict[str, Any]
"""``{"t": [..], "gpus": {uuid: {field: [number or None]}}, "host": {field: [..]}}``; t in epoch seconds."""

MOST_POINTS = 600
_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 6.0, 10.0, 30.0, 60.0)


def step_for(span: float, hz: float) -> float:
    """The stretch, seconds, that keeps `span` seconds at `hz` samples a second to `MOST_POINTS`; 0: all."""
    if span * hz <= MOST_POINTS:
        return 0.0
    return next((step for step in _STEPS if span / step <= MOST_POINTS), _STEPS[-1])


def thin(history: History, step: float, fields: Collection[str] = ()) -> History:
    """The history in stretches of `step` seconds, each at its middle; only these `fields`, all by default.

    A stretch without a sample is left out, one without a value has None. With a step of 0 every sample stays.
    """
    times: Sequence[float] = history["t"]
    if step <= 0:
        bounds = [(at, at + 1) for at in range(len(times))]
        middles = list(times)
    else:
        numbers = [math.floor(t / step) for t in times]
        starts = [at for at, number in enumerate(numbers) if at == 0 or number != numbers[at - 1]]
        bounds = list(itertools.pairwise([*starts, len(times)]))
        # None is later than the newest sample: what comes next is to stand behind it.
        middles = [min(round((numbers[start] + 0.5) * step, 3), times[-1]) for start in starts]

    def series(values: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
        wanted = [name for name in values if not fields or name in fields]
        if step <= 0:
            return {name: list(values[name]) for name in wanted}
        return {name: [_mean(values[name][start:end]) for start, end in bounds] for name in wanted}

    return {
        "t": middles,
        "gpus": {uuid: series(values) for uuid, values in history["gpus"].items()},
        "host": series(history["host"]),
    }


def encode(history: History) -> str:
    """The history as JSON, a device at a time: encoding all at once would hold up every other thread."""
    gpus = ",".join(f"{json.dumps(uuid)}:{_json(values)}" for uuid, values in history["gpus"].items())
    return f'{{"t":{_json(history["t"])},"gpus":{{{gpus}}},"host":{_json(history["host"])}}}'


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 2) if known else None
