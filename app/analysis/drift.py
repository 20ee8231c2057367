"""Replicas whose parameters grow apart because nothing exchanges their gradients."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.analysis import advice
from app.analysis.devices import in_order
from app.analysis.finding import Finding
from app.analysis.severity import SEVERITY
from app.analysis.tables import Tables
from app.views import units
from probes.trace.rows import Event, Key

CODE = "replica-drift"
ROUNDING_PPB = 1_000
"""Relative differences up to here, in parts per billion, may be rounding: single precision has 60."""

_Replicas = tuple[int, tuple[str, ...], int, str]
"""Process, devices, line and exchange of the comparisons that belong together."""


@dataclasses.dataclass(frozen=True)
class Check:
    """One comparison of the replicas' parameters."""

    step: int | None
    parameters: int = 0
    """How many were compared."""
    differing: int = 0
    """How many of them are not equal on all devices."""
    largest_ppb: int = 0
    """The largest relative difference, in parts per billion."""
    parameter: str = ""
    """Which parameter has it; '' where none differs."""

    @property
    def differs(self) -> bool:
        """Whether the replicas differ by more than rounding."""
        return self.differing > 0 and self.largest_ppb > ROUNDING_PPB


def drift_findings(tables: Tables) -> list[Finding]:
    """One finding for the replicas of a line that differ more and more, and exchange no gradients."""
    keys = {key.id: key for key in tables.of_kind("drift")}
    if not keys:
        return []
    groups: dict[_Replicas, list[Event]] = {}
    made: dict[_Replicas, str | None] = {}
    for event in tables.events_of("drift"):
        if event.key in keys and event.value is not None:
            fields = keys[event.key].fields
            groups.setdefault(_replicas(keys[event.key]), []).append(event)
            made.setdefault(_replicas(keys[event.key]), tables.site(fields.get("made_loc")))
    found = []
    for replicas, events in groups.items():
        checks = checks_of(events, keys)
        if not replicas[-1] and drifts(checks):
            found.append(_finding(tables, replicas, checks, made[replicas]))
    return found


def checks_of(events: Iterable[Event], keys: Mapping[int, Key]) -> list[Check]:
    """The comparisons by time: each has one event a figure."""
    checks: list[Check] = []
    told: set[str] = set()
    for event in sorted(events, key=lambda event: event.ts_ns):
        fields, value = keys[event.key].fields, event.value or 0
        what = fields.get("what") or ""
        if not checks or checks[-1].step != event.step or what in told:
            checks.append(Check(event.step))
            told.clear()
        told.add(what)
        last = checks.pop()
        last = dataclasses.replace(last, parameters=max(last.parameters, fields.get("parameters") or 0))
        if what == "differing":
            last = dataclasses.replace(last, differing=value)
        elif what == "largest_ppb":
            last = dataclasses.replace(last, largest_ppb=value, parameter=fields.get("parameter") or "")
        checks.append(last)
    return checks


def drifts(checks: Sequence[Check]) -> bool:
    """Whether the last comparison differs, and not by chance: more than the first did, or as all of them."""
    if len(checks) < 2 or not checks[-1].differs:
        return False
    return checks[-1].largest_ppb > checks[0].largest_ppb or all(check.differs for check in checks)


def _replicas(key: Key) -> _Replicas:
    fields = key.fields
    devices = tuple(in_order(fields.get("devices") or ()))
    return key.id >> 32, devices, fields.get("loc") or 0, fields.get("exchange") or ""


def _finding(tables: Tables, replicas: _Replicas, checks: list[Check], made: str | None) -> Finding:
    _, devices, loc, _ = replicas
    first, last, site = checks[0], checks[-1], tables.site(loc)
    evidence: dict[str, Any] = {
        "devices": list(devices),
        "exchange": "none",
        "parameters": last.parameters,
        "parameters_differing": last.differing,
        "parameter_with_the_largest_difference": last.parameter or None,
        "first_check_step": first.step,
        "first_check_largest_difference_ppb": first.largest_ppb,
        "last_check_step": last.step,
        "last_check_largest_difference_ppb": last.largest_ppb,
        "checks": len(checks),
    }
    if made:
        evidence["trainer_made_at"] = made
    by = f", by the trainer of {made}" if made else ""
    what = f" ({last.parameter})" if last.parameter else ""
    grew = "up from" if last.largest_ppb > first.largest_ppb else "and"
    where = advice.some_of(devices, "devices") or "several devices"
    now, before = units.relative(last.largest_ppb), units.relative(first.largest_ppb)
    summary = (
        f"The replicas on {where} drift apart: {last.differing} of"
        f" {units.plural(last.parameters, 'parameter')} differ, by up to {now} of the largest value{what}"
        f"{_at(last)}, {grew} {before}{_at(first)}; no gradients are"
        f" exchanged between them at {site or 'an unknown line'}{by}."
    )
    fix = advice.fix(CODE, evidence)
    return Finding(CODE, SEVERITY[CODE], site, summary, evidence, fix, (), recurs=True)


def _at(check: Check) -> str:
    return "" if check.step is None else f" at step {units.count(check.step)}"
