"""What was sampled of the run on the page: its curves in the run's own names, and what is missing."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from app.facts.device_map import device_map
from app.facts.gpu_samples import devices_of_cards
from app.store.run import RunStore
from app.store.sample_parsing import HOST, RUN, Numbers, SampleTable
from app.store.sample_series import CARD_CURVES, series
from app.views import units
from app.views.sample_words import Moments, harmful
from app.views.samples_data import MEMORY, POWER, THROTTLED, UTILIZATION, Samples
from app.web.shared.open_runs import Snapshot
from runners.runs.run import Run

OLD = "Utilisation, memory and power were not sampled in this run: it was made before runs were sampled."
NO_FILE = "Utilisation, memory and power were not sampled in this run: the file for it could not be made."
NONE_YET = "The first sample of utilisation, memory and power comes within a second or two."
TOO_SHORT = "The run ended before its first sample of utilisation, memory and power."
_NAMES = {UTILIZATION: "utilisation", MEMORY: "memory", POWER: "power"}
_SETTLING = 3
"""Rows that a sampler may take to start."""
_BEFORE_S = 15.0
_LATE_S = 5.0


@dataclasses.dataclass(frozen=True)
class RunSamples:
    """The samples of one run at one moment."""

    table: SampleTable
    t_s: Numbers
    """When each row was sampled, seconds since the run's start."""
    devices: Mapping[str, tuple[str, ...]]
    """The run's names of each card that is one of its devices, by UUID."""
    wanted: int = 0
    """How many cards were to be sampled."""
    until: float | None = None
    """When the run ended, or now while it goes on, epoch seconds; None where that is not known."""

    def curves(self, only: Collection[str] = (), stretch: tuple[float, float] | None = None) -> Samples:
        """The curves of the whole run or a stretch; of cards those of the devices `only`, where it names any.

        Cards that are none of the run's devices are drawn only where none is known to be.
        """
        found = series(self.table, self.t_s, self.devices, stretch)

        def shown(devices: Sequence[str], card: bool) -> bool:
            if not card or not self.devices:
                return True
            return bool(devices) and (not only or bool(set(devices) & set(only)))

        return dataclasses.replace(
            found,
            curves=tuple(one for one in found.curves if shown(one.source.devices, one.source.is_card)),
            throttled=tuple(one for one in found.throttled if shown(one[0].devices, True)),
        )

    def remarks(self) -> list[str]:
        """What is missing and why, a sentence each; the worst first."""
        table = self.table
        told = []
        if self.wanted and isinstance(table.nvml, dict) and table.nvml.get("text"):
            told.append(f"The cards could not be sampled: {table.nvml['text']}")
        told += self._slowed()
        told += self._missing()
        for why, count in table.unsampled.items():
            if count > _SETTLING or why != "the sampler is starting":
                told.append(f"{units.plural(count, 'sample')} of cards and machine missing: {why}")
        if table.lost:
            told.append(f"{units.plural(table.lost, 'sample')} found no room on the disk")
        if table.damaged:
            more = (
                f", and {units.plural(table.skipped, 'sample')} after them not used" if table.skipped else ""
            )
            told.append(f"{units.plural(table.damaged, 'line')} of the samples could not be read{more}")
        if self.until is not None and table.rows:
            late_s = self.until - float(table.wall_s[-1])
            if late_s > _LATE_S + float(table.every_s[-1]):
                told.append(f"The last {units.duration(round(late_s))} were not sampled")
        others = len(self._cards()) - len(self.devices)
        if self.devices and others:
            told.append(f"{units.plural(others, 'other card')} that the run could see not drawn")
        elif others:
            told.append("Cards go by nvidia-smi's numbers: which of the run's devices each is was not told")
        if table.rows and self.t_s.min() < -_BEFORE_S:
            before = units.duration(float(-self.t_s.min()))
            told.append(f"The {before} before the recording began are not drawn")
        return told

    def nearest(self, window: tuple[float, float], only: Collection[str]) -> str:
        """The sample nearest to a stretch too short for curves, in words; '' where there is none."""
        samples = self.curves(only, window)
        middle = (window[0] + window[1]) / 2
        reach = max((window[1] - window[0]) / 2, samples.every_s)
        moments = Moments(samples)
        at = moments.nearest(middle, reach)
        if at is None:
            return ""
        return f"Sampled at {units.duration(at)}: {'; '.join(moments.told(middle, reach))}"

    def _cards(self) -> list[str]:
        return [name for name in self.table.sources if name not in (HOST, RUN)]

    def _label(self, name: str) -> str:
        facts = self.table.sources[name].facts
        return ", ".join(self.devices.get(name, ())) or f"nvidia-smi's {facts.get('index', '?')}"

    def _slowed(self) -> list[str]:
        """What the line in the strong colour means."""
        told = []
        for name in self._cards():
            column = self.table.column(name, THROTTLED)
            for number, words in enumerate(self.table.reasons):
                count = int(np.count_nonzero(column == number))
                if count and harmful(words):
                    told.append(
                        f"{self._label(name)} was slowed down in {units.plural(count, 'sample')}: {words}"
                    )
        return told

    def _missing(self) -> list[str]:
        grouped: dict[tuple[str, str, bool], list[str]] = {}
        for name in self._cards():
            source = self.table.sources[name]
            for field in CARD_CURVES:
                if (why := source.missing.get(field)) and (name in self.devices or not self.devices):
                    never = bool(np.isnan(self.table.column(name, field)).all())
                    grouped.setdefault((_NAMES[field], why, never), []).append(self._label(name))
        return [
            f"{'No' if never else 'At times no'} {figure} of {', '.join(labels)}: {why}"
            for (figure, why, never), labels in grouped.items()
        ]


def run_samples(run: Run, store: RunStore, snapshot: Snapshot) -> RunSamples | None:
    """The samples of a run that is looked at; None of one that has no file of them."""
    table = store.samples()
    if table is None:
        return None
    mapped: dict[str, dict[str, Any]] = device_map(snapshot.spec, snapshot.tables)
    wanted = snapshot.spec.get("sampled_gpus")
    return RunSamples(
        table,
        store.sample_times(table),
        devices_of_cards(mapped, table),
        len(wanted) if isinstance(wanted, list) else 0,
        run.ended_at if run.ended else time.time(),
    )


def words_without(samples: RunSamples | None, spec: Mapping[str, Any], ended: bool) -> str:
    """Why there is no sample to draw; '' where there is one."""
    if samples is None:
        return NO_FILE if "sampled_gpus" in spec else OLD
    if samples.table.rows:
        return ""
    return TOO_SHORT if ended else NONE_YET
