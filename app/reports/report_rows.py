"""Rows of a report's tables as texts with units, for the terminal and for HTML alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.facts.memory import UNUSED
from app.facts.syncs import shown
from app.views import units

Row = tuple[str, ...]


def timed(report: Mapping[str, Any]) -> bool:
    """Whether the time of any hop is estimated, so that a column for it is worth its room."""
    return any(row.get("estimated_ms") is not None for row in report["hops"])


def copy_time(row: Mapping[str, Any]) -> str:
    """What one transfer takes."""
    told = row.get("estimated_ms")
    return units.UNKNOWN if told is None else units.duration(told / 1e3)


def collective_rows(report: Mapping[str, Any]) -> list[Row]:
    """Op, devices, tensors, payload, on the wire, algorithm, count, site, basis."""
    return [
        (
            row["op"],
            ", ".join(row["devices"]),
            units.count(row["tensors"]),
            units.size(row["payload_bytes"]),
            units.size(row["wire_bytes"]),
            row["algorithm"],
            units.times(row["count"]),
            row["site"] or units.UNKNOWN,
            row["basis"],
        )
        for row in report["collectives"]
    ]


def sync_rows(report: Mapping[str, Any]) -> list[Row]:
    """Device, kind, site, count, waited in all, of it copying, basis."""
    return [
        (
            shown(row["device"], row.get("waits_for") or "", row.get("waits_for_too") or ()),
            row["kind"],
            row["site"] or units.UNKNOWN,
            units.times(row["count"]),
            units.UNKNOWN
            if row["wait_ns"] is None
            else units.duration((row["wait_ns"] + (row["copy_ns"] or 0)) / 1e9),
            copied(row["wait_ns"], row["copy_ns"]),
            _bases(row),
        )
        for row in report["syncs"]
    ]


def _bases(row: Mapping[str, Any]) -> str:
    """What the whole rests on, and its split where that is less sure."""
    split = row.get("split_basis") or row["basis"]
    timed = row.get("timed")
    why = "" if timed is None else f" ({units.count(timed)} timed)"
    return f"{row['basis']}{why}" + ("" if split == row["basis"] else f", split {split}")


def copied(wait_ns: int | None, copy_ns: int | None) -> str:
    """The copying part of what was waited, where it can be told apart."""
    if copy_ns is not None:
        return units.duration(copy_ns / 1e9)
    return units.UNKNOWN if wait_ns is None else "not told apart"


def steps_told(report: Mapping[str, Any]) -> str:
    """``3 steps``; where the program counts others than optimizers were applied, both."""
    applied, own = report["steps"], report.get("progress")
    if own is None:
        return "no optimizer steps" if applied is None else units.plural(applied, "step")
    if applied == own["step"] == (own["total"] or applied):
        return units.plural(applied, "step")
    told = f"{own['step']} of {own['total']} steps" if own["total"] else f"step {own['step']}"
    beside = "no optimizer step recorded" if applied is None else units.plural(applied, "optimizer step")
    return f"{told} by its own count, {beside}"


def memory_rows(report: Mapping[str, Any]) -> list[Row]:
    """Device, peak, basis; where there is no peak with the reason."""
    return [
        (row["device"], "", UNUSED)
        if row["why"] == UNUSED
        else (row["device"], units.size(row["peak_bytes"]), row["basis"] + _reason(row))
        for row in report["memory"]
    ]


def _reason(row: Mapping[str, Any]) -> str:
    return f": {row['why']}" if row["peak_bytes"] is None and row.get("why") else ""


def sample_rows(report: Mapping[str, Any]) -> list[Row]:
    """What, samples, busy (mean and most), peak of memory, power (mean and most), energy; '' for none."""
    samples = report.get("samples")
    if not samples:
        return []
    rows: list[Row] = [
        (
            ", ".join(card["devices"]) or f"nvidia-smi's {card['nvml_index']}",
            units.count(card["count"]),
            _share(card["mean_utilization_percent"], card["max_utilization_percent"]),
            _size(card["peak_memory_bytes"]),
            _watts(card["mean_power_watts"], card["max_power_watts"]),
            units.energy(card["energy_joules"]) if card["energy_joules"] is not None else "",
        )
        for card in samples["cards"]
    ]
    for name, words in (("machine", "machine (CPU)"), ("processes", "run's processes (CPU)")):
        if other := samples[name]:
            load = _share(other["mean_cpu_percent"], other["max_cpu_percent"])
            rows.append((words, units.count(other["count"]), load, _size(other["peak_memory_bytes"]), "", ""))
    return rows


def samples_title(report: Mapping[str, Any]) -> str:
    """What stands over them: how often there was one."""
    every_s = (report.get("samples") or {}).get("every_s")
    often = "once a second" if every_s == 1 else f"every {units.duration(every_s)}"
    return f"Sampled {often}" if every_s else "Samples"


def sample_remarks(report: Mapping[str, Any]) -> list[str]:
    """What is to be known of the samples beside their figures, a sentence each."""
    samples = report.get("samples")
    if not samples:
        return []
    remarks = [
        f"{units.plural(row['count'], 'sample')} without cards and machine: {row['why']}"
        for row in samples["unsampled"]
    ]
    if samples["lost"]:
        remarks.append(f"{units.plural(samples['lost'], 'sample')} found no room on the disk")
    if samples["damaged"]:
        left_out = f", so {units.plural(samples['skipped'], 'sample')} could not be used either"
        lines = units.plural(samples["damaged"], "line")
        remarks.append(f"{lines} of the samples cannot be read{left_out if samples['skipped'] else ''}")
    for card in samples["cards"]:
        name = ", ".join(card["devices"]) or f"nvidia-smi's {card['nvml_index']}"
        remarks += [
            f"{name} was slowed down in {units.plural(row['count'], 'sample')}: {row['reasons']}"
            for row in card["throttled"]
        ]
    return remarks


def _share(mean: float | None, most: float | None) -> str:
    return "" if mean is None or most is None else f"{mean:.0f} %, at most {most:.0f} %"


def _watts(mean: float | None, most: float | None) -> str:
    return "" if mean is None or most is None else f"{mean:.0f} W, at most {most:.0f} W"


def _size(value: int | None) -> str:
    return "" if value is None else units.size(value)
