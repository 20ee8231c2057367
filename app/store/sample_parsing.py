"""The rows of samples.jsonl -> columns of numbers, as they come; what is damaged is counted, never guessed.

Each row says only what changed (runners/supervise/sample_rows.py). After a line that cannot be read nothing
is known until the next full row, and the rows between are left out.
"""

from __future__ import annotations

import array
import collections
import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from probes.nvml.snapshot import HISTORY_FIELDS, is_missing
from runners.runs.run_fields import Plain

HOST, RUN = "host", "run"
"""Sources beside the cards, which go by their UUIDs: the machine, and the run's own processes."""
THROTTLE = "throttle_reasons"
"""A column of numbers all the same: which of the table's `reasons` held, -1 for none of them."""
GPU_COLUMNS = (*HISTORY_FIELDS, "energy_joules", THROTTLE)
HOST_COLUMNS = ("cpu_percent", "memory_used_bytes")
RUN_COLUMNS = ("cpu_percent", "memory_bytes", "processes")
_NUMBERS = ("index", "memory_total_bytes", "power_limit_watts", "cpu_cores")
_TEXTS = ("name", "pci_bus_id")
_IDLE = "idle"

Numbers = npt.NDArray[np.float64]


@dataclasses.dataclass
class Source:
    """One thing that is sampled."""

    id: str
    """A card's UUID, `HOST` or `RUN`."""
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)
    """What stays as it is: index (nvidia-smi's), name, memory_total_bytes, cpu_cores, .."""
    missing: dict[str, str] = dataclasses.field(default_factory=dict)
    """Why a field had no value, where it had none; the last reason."""


@dataclasses.dataclass(frozen=True)
class SampleTable:
    """All samples of a run so far. Every column has a number a row, NaN where there is none."""

    wall_s: Numbers
    """Epoch seconds."""
    mono_s: Numbers
    """Seconds of the machine's monotonic clock, by which the traces go."""
    every_s: Numbers
    """How long after the row before it each was due."""
    columns: Mapping[tuple[str, str], Numbers]
    """By source and field."""
    sources: Mapping[str, Source]
    reasons: tuple[str, ...] = ()
    """What throttled a card, by the numbers in its column."""
    unsampled: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Why cards and host could not be sampled, and in how many rows."""
    nvml: Any = None
    """``ok``, or the state of the driver with its reason; None where nothing told it."""
    damaged: int = 0
    """Lines that could not be read."""
    skipped: int = 0
    """Rows that say nothing without a line that could not be read."""
    lost: int = 0
    """Samples for which there was no room on the disk."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.wall_s)

    def column(self, source: str, field: str) -> Numbers:
        """One column; all NaN where the source never had the field."""
        found = self.columns.get((source, field))
        return np.full(self.rows, np.nan) if found is None else found


class SampleParser:
    """Takes lines in their order and gives the table of all so far."""

    def __init__(self) -> None:
        self.rows = 0
        self.damaged = self.skipped = self.lost = 0
        self.sources: dict[str, Source] = {}
        self.reasons: list[str] = []
        self.unsampled: collections.Counter[str] = collections.Counter()
        self.nvml: Any = None
        self._known = False
        """A full row has come since the last line that could not be read."""
        self._every = 1.0
        self._silent: str | None = None
        self._by_index: dict[int, str] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._now: list[float] = []
        self._times = array.array("d")
        self._blocks: list[tuple[int, array.array[float]]] = []
        self._table: SampleTable | None = None

    def feed(self, lines: Iterable[bytes]) -> None:
        """Take whole lines, without their ends."""
        for line in lines:
            if line.strip():
                self._table = None
                self._take(line)

    def table(self) -> SampleTable:
        """All samples so far; the same one while there are no new ones."""
        if self._table is None:
            times = np.array(self._times).reshape(-1, 3)
            wide = np.full((self.rows, len(self._places)), np.nan)
            row = 0
            for width, values in self._blocks:
                block = np.array(values).reshape(-1, width) if width else np.empty((0, 0))
                wide[row : row + len(block), :width] = block
                row += len(block)
            self._table = SampleTable(
                times[:, 0],
                times[:, 1],
                times[:, 2],
                {key: wide[:, place] for key, place in self._places.items()},
                dict(self.sources),
                tuple(self.reasons),
                dict(self.unsampled),
                self.nvml,
                self.damaged,
                self.skipped,
                self.lost,
            )
        return self._table

    def _take(self, line: bytes) -> None:
        try:
            row = Plain().value(json.loads(line))
            t, mono = float(row["t"]), float(row.get("mono", np.nan))
            if not math.isfinite(t):
                raise ValueError("no time")
            lost = int(row.get("lost") or 0)
            if row.get("full"):
                self._forget()
            elif not self._known:
                self.skipped += 1
                return
            self._merge(row)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self.damaged += 1
            self._known = False
            return
        self.lost += lost
        self.rows += 1
        self._times.extend((t, mono, self._every))
        if not self._blocks or self._blocks[-1][0] != len(self._now):
            self._blocks.append((len(self._now), array.array("d")))
        self._blocks[-1][1].extend(self._now)
        if self._silent:
            self.unsampled[self._silent] += 1

    def _forget(self) -> None:
        self._known = True
        self._silent = None
        self._by_index.clear()
        self._now = [np.nan] * len(self._now)

    def _merge(self, row: Mapping[str, Any]) -> None:
        self._every = float(row.get("every", self._every))
        if "unsampled" in row:
            self._silent = None if row["unsampled"] is None else str(row["unsampled"])
        self.nvml = row.get("nvml", self.nvml)
        for gpu in row.get("gpus", ()):
            index = int(gpu["index"])
            uuid = gpu.get("uuid", self._by_index.get(index))
            # One that could never be read has no name but its number.
            self._by_index[index] = name = uuid if isinstance(uuid, str) else f"index {index}"
            self._put(name, gpu, GPU_COLUMNS)
        self._put(HOST, row.get("host", {}), HOST_COLUMNS)
        self._put(RUN, row.get("run", {}), RUN_COLUMNS)

    def _put(self, name: str, fields: Mapping[str, Any], columns: tuple[str, ...]) -> None:
        if not fields:
            return
        source = self.sources.get(name)
        if source is None:
            source = self.sources[name] = Source(name)
        for field, value in fields.items():
            if field in columns:
                self._now[self._place(name, field)] = self._number(source, field, value)
            elif (field in _NUMBERS and isinstance(value, int | float)) or (
                field in _TEXTS and isinstance(value, str)
            ):
                source.facts[field] = value

    def _place(self, name: str, field: str) -> int:
        place = self._places.get((name, field))
        if place is None:
            place = self._places[name, field] = len(self._places)
            self._now.append(np.nan)
        return place

    def _number(self, source: Source, field: str, value: Any) -> float:
        if is_missing(value):
            source.missing[field] = str(value["reason"])
            return np.nan
        if field == THROTTLE:
            words = ", ".join(str(reason) for reason in value if reason != _IDLE)
            if words and words not in self.reasons:
                self.reasons.append(words)
            return float(self.reasons.index(words)) if words else -1.0
        return np.nan if value is None else float(value)  # what is no finite number is None by now
