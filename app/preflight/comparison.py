"""Whether a foreseen finding is gone in the pre-flight of an edited copy, and what both foresee."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from app.diagnosis.verification import LineMap, Side, Verified, hold
from app.facts.basis import total
from app.facts.devices import is_gpu
from app.facts.groups import grouped
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from app.judgments.severity import is_loud
from app.preflight.provenance import at_line

Row = Mapping[str, Any]
HOST_MEMORY = "its host memory"
"""Stands for a destination: what goes this way stays on its device, between its own memory and that."""


@dataclasses.dataclass(frozen=True)
class Flown:
    """What one of the two pre-flights foresees besides what any run has.

    Figures are of a step where both have steps, else of all that ran; None where a count or size is unknown.
    """

    gpus: int
    """How many GPUs the foreseen machine has."""
    ways: Mapping[tuple[str, str], float | None]
    """Bytes by (source, destination), the latter `HOST_MEMORY` either way between a device and that."""
    waits: float | None
    """How often Python waits for a value that a GPU has, or what is taken for one."""
    lacking: int
    """Ops that have no GPU kernel."""
    stand_ins: frozenset[str] = frozenset()
    """Devices of the host that are taken for cards."""


@dataclasses.dataclass(frozen=True)
class Compared:
    """Two pre-flights side by side."""

    verified: Verified
    """As of two runs, but without times: a pre-flight has none of a GPU."""
    before: Flown
    after: Flown
    libraries: tuple[str, ...]
    """Warnings of what libraries would do that only the pre-flight after has."""
    unforeseen: tuple[str, ...]
    """What only the pre-flight after cannot foresee: that nothing is told of it means nothing."""


def named(row: Row) -> str:
    """What a foreseen finding is known by between runs: ``code@site``."""
    return f"{row['code']}@{row['site'] or ''}"


def to_mend(report: Row) -> dict[str, Row]:
    """The foreseen warnings and errors by what they are known by; a fix can be tried of these."""
    return {named(row): row for row in reversed(report["findings"]) if is_loud(row["severity"])}


def compare(code: str, site: str, before: Row, after: Row, became: LineMap) -> Compared:
    """Hold the report `after` against that `before`: is the finding of this code and line foreseen still?"""
    held = hold(code, site, _findings(before), _findings(after), became)
    by_step = all((report["steps"] or 0) > 1 for report in (before, after))
    sides = _side(held.was, before, by_step), _side(held.still, after, by_step)
    return Compared(
        Verified(code, site, held.state, *sides, held.new, by_step, timed=False),
        _flown(before, by_step),
        _flown(after, by_step),
        tuple(row["what"] for row in _only(before, after, "libraries", became) if is_loud(row["severity"])),
        tuple(
            f"{row['what']}{at_line(row)} ({row['why']})"
            for row in _only(before, after, "unforeseen", became)
        ),
    )


def _findings(report: Row) -> list[Finding]:
    names = ("code", "severity", "site", "summary", "fix")
    return [
        Finding(
            **{name: row[name] for name in names},
            evidence=FindingEvidence(also_at=row["evidence"].get("also_at")),
            hops=tuple(row["hops"]),
        )
        for row in report["findings"]
    ]


def _side(found: tuple[Finding, ...], report: Row, by_step: bool) -> Side:
    mine = sorted({row for one in found for row in one.hops})
    return Side(
        found,
        _moved([report["hops"][row] for row in mine], report, by_step),
        _moved(report["hops"], report, by_step),
        stood_ns=None,
        step=None,
        warnings=sum(is_loud(row["severity"]) for row in [*report["findings"], *report["libraries"]]),
    )


def _flown(report: Row, by_step: bool) -> Flown:
    ways = grouped((_way(hop), hop) for hop in report["hops"])
    stand_ins = frozenset(report.get("stand_ins") or ())
    return Flown(
        stand_ins=stand_ins,
        gpus=report["gpus"],
        ways={way: _moved(hops, report, by_step) for way, hops in ways.items()},
        waits=total(
            [
                _times(row, report, by_step)
                for row in report["syncs"]
                for device in [row.get("waits_for") or row["device"]]
                if is_gpu(device) or device in stand_ins
            ]
        ),
        lacking=sum(row["ops"] for row in report["no_kernel"]),
    )


def _way(hop: Row) -> tuple[str, str]:
    inside = hop["src"] == hop["dst"] and hop.get("src_memory") != hop.get("dst_memory")
    return hop["src"], HOST_MEMORY if inside else hop["dst"]


def _moved(hops: Sequence[Row], report: Row, by_step: bool) -> float | None:
    times = [_times(hop, report, by_step) for hop in hops]
    return total([_bytes(hop["bytes"], often) for hop, often in zip(hops, times, strict=True)])


def _times(row: Row, report: Row, by_step: bool) -> float | None:
    """How often something happens in each step, what only some do on the average; or in all that ran."""
    count: int | None = row["count"]
    if not by_step or count is None:
        return count
    each: float = count / report["steps"] if row["each"] is None else row["each"] or row.get("mean") or 0.0
    return each


def _bytes(size: int | None, often: float | None) -> float | None:
    if often == 0:
        return 0.0
    return None if size is None or often is None else size * often


def _only(before: Row, after: Row, part: str, became: LineMap) -> list[Row]:
    """The rows of a part that only the report after has, at lines that follow the edit."""
    known = {(row["what"], site) for row in before[part] for site in became(row["site"] or "")}
    return [row for row in after[part] if (row["what"], row["site"] or "") not in known]
