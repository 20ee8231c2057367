"""What was sampled of late, in arrays of a fixed length: an hour at one sample a second."""

from __future__ import annotations

import bisect
import math
from array import array
from collections.abc import Mapping
from typing import Any

from probes.nvml.snapshot import HISTORY_FIELDS, HISTORY_HOST_FIELDS, Snapshot

SAMPLES = 3600
_HOST = ""
"""Stands for the host where a UUID stands for a card."""


class History:
    """A ring of the fields that are worth a curve, one row a sample. It never grows with time."""

    def __init__(self, samples: int = SAMPLES) -> None:
        self._size = samples
        self._rows = 0
        self._times = array("d", [math.nan]) * samples
        self._columns: dict[tuple[str, str], array[float]] = {}

    def add(self, snapshot: Snapshot) -> None:
        """Append a sample; what has no value becomes a gap."""
        place = self._rows % self._size
        self._times[place] = snapshot["t"]
        for column in self._columns.values():
            column[place] = math.nan
        for gpu in snapshot["gpus"]:
            # One that was never read has no UUID, and nothing to draw either.
            if isinstance(gpu["uuid"], str):
                self._put(place, gpu["uuid"], gpu, HISTORY_FIELDS)
        self._put(place, _HOST, snapshot.get("host", {}), HISTORY_HOST_FIELDS)
        self._rows += 1

    def since(self, t: float) -> dict[str, Any]:
        """Return ``{"t": [..], "gpus": {uuid: {field: [..]}}, "host": {field: [..]}}`` of samples after `t`.

        Oldest first; None where there was no value.
        """
        first = max(0, self._rows - self._size)
        order = [row % self._size for row in range(first, self._rows)]
        times = [self._times[place] for place in order]
        order = order[bisect.bisect_right(times, t) :]
        gpus: dict[str, dict[str, list[float | None]]] = {}
        host: dict[str, list[float | None]] = {}
        for (owner, field), column in self._columns.items():
            values = [_told(column[place]) for place in order]
            if owner == _HOST:
                host[field] = values
            elif any(value is not None for value in values):
                gpus.setdefault(owner, {})[field] = values
        return {"t": [self._times[place] for place in order], "gpus": gpus, "host": host}

    def _put(self, place: int, owner: str, row: Mapping[str, Any], fields: tuple[str, ...]) -> None:
        for field in fields:
            value = row.get(field)
            if isinstance(value, (int, float)):
                column = self._columns.get((owner, field))
                if column is None:
                    column = self._columns[owner, field] = array("d", [math.nan]) * self._size
                column[place] = value


def _told(value: float) -> float | None:
    if math.isnan(value):
        return None
    return int(value) if value == int(value) else round(value, 3)
