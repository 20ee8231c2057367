"""The tables of a report, for the terminal and for HTML alike: every cell a text with its unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.facts.memory import UNUSED
from app.facts.syncs import shown
from app.views import units

Row = Mapping[str, Any]
Write = Callable[[Row], str]


@dataclasses.dataclass(frozen=True)
class Column:
    """A column: its head and what stands in it for a row."""

    head: str
    write: Write
    number: bool = False
    """Stands right."""
    device: bool = False
    """Begins with a device's name."""
    more: Write | None = None
    """What follows it where there is room: on a page."""


@dataclasses.dataclass(frozen=True)
class ReportTable:
    """A table with its rows as the report has them."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    remarks: Sequence[str] = ()
    """What is to be known beside it, a sentence each."""

    @property
    def texts(self) -> list[list[str]]:
        """The cells of each row."""
        return [[column.write(row) for column in self.columns] for row in self.rows]


def report_tables(report: Row) -> list[ReportTable]:
    """Return the tables that have something to show, in the order in which they are read."""
    hops = [row | {"number": number} for number, row in enumerate(report["hops"])]
    hops.sort(key=lambda row: -(row["bytes"] or 0) * (row["count"] or 0))
    timed = any(row.get("estimated_ms") is not None for row in hops)
    tables = [
        ReportTable("Placement", _PLACEMENT, report["placement"]),
        ReportTable("Hops", [one for one in _HOPS if timed or one.head != _ESTIMATED], hops),
        ReportTable("Collectives", _COLLECTIVES, report["collectives"]),
        ReportTable("Syncs", _SYNCS, report["syncs"]),
        ReportTable("Memory", _MEMORY, report["memory"]),
        _samples(report.get("samples") or {}),
        ReportTable("Ops", _OPS, report.get("ops", ())),
    ]
    return [table for table in tables if table.rows or table.remarks]


def copied(wait_ns: int | None, copy_ns: int | None) -> str:
    """The copying part of what was waited, where it can be told apart."""
    if copy_ns is not None:
        return units.duration(copy_ns / 1e9)
    return units.UNKNOWN if wait_ns is None else "not told apart"


def endpoint(device: str, memory: str) -> str:
    """A device, with its memory where that is not the one its name says: ``gpu:0 (host memory)``."""
    return f"{device} (host memory)" if memory == "host" and not device.endswith("cpu:0") else device


def _site(row: Row) -> str:
    return str(row["site"] or units.UNKNOWN)


def _other_sites(row: Row) -> str:
    """Where a hop's tensor was made, and the forward op of a gradient's."""
    made = row["producer_site"] if row["producer_site"] != row["site"] else None
    sites = (("produced at", made), ("forward at", row["forward_site"]))
    return ", ".join(f"{words} {site}" for words, site in sites if site)


def _copy_time(row: Row) -> str:
    """What one transfer takes."""
    told = row.get("estimated_ms")
    return units.duration(None if told is None else told / 1e3)


def _waited(row: Row) -> str:
    return units.duration(None if row["wait_ns"] is None else (row["wait_ns"] + (row["copy_ns"] or 0)) / 1e9)


def _sync_basis(row: Row) -> str:
    """What the whole rests on, and its split where that is less sure."""
    split = row.get("split_basis") or row["basis"]
    timed = row.get("timed")
    why = "" if timed is None else f" ({units.count(timed)} timed)"
    return f"{row['basis']}{why}" + ("" if split == row["basis"] else f", split {split}")


def _peak(row: Row) -> str:
    return "" if row["why"] == UNUSED else units.size(row["peak_bytes"])


def _memory_basis(row: Row) -> str:
    """What the peak rests on; where there is none with the reason."""
    if row["why"] == UNUSED:
        return UNUSED
    reason = f": {row['why']}" if row["peak_bytes"] is None and row.get("why") else ""
    return f"{row['basis']}{reason}"


def _samples(samples: Row) -> ReportTable:
    """Those of the cards, the machine and the run's processes, and what went wrong with them."""
    every_s = samples.get("every_s")
    often = "once a second" if every_s == 1 else f"every {units.duration(every_s)}"
    cards = [
        card | {"name": ", ".join(card["devices"]) or f"nvidia-smi's {card['nvml_index']}"}
        for card in samples.get("cards", ())
    ]
    others = (("machine", "machine (CPU)"), ("processes", "run's processes (CPU)"))
    rows = [*cards, *(samples[key] | {"name": name} for key, name in others if samples.get(key))]
    columns = [column for column in _SAMPLES if any(map(column.write, rows))]
    title = f"Sampled {often}" if every_s else "Samples"
    return ReportTable(title, columns, rows, _sample_remarks(samples, cards))


def _sample_remarks(samples: Row, cards: Sequence[Row]) -> list[str]:
    remarks = [
        f"{units.plural(row['count'], 'sample')} without cards and machine: {row['why']}"
        for row in samples.get("unsampled", ())
    ]
    if lost := samples.get("lost"):
        remarks.append(f"{units.plural(lost, 'sample')} found no room on the disk")
    if damaged := samples.get("damaged"):
        skipped = samples["skipped"]
        left_out = f", so {units.plural(skipped, 'sample')} could not be used either" if skipped else ""
        remarks.append(f"{units.plural(damaged, 'line')} of the samples cannot be read{left_out}")
    return remarks + [
        f"{card['name']} was slowed down in {units.plural(row['count'], 'sample')}: {row['reasons']}"
        for card in cards
        for row in card["throttled"]
    ]


def _most(row: Row, name: str, unit: str) -> str:
    """``50 %, at most 90 %``; '' where it was not sampled."""
    mean, most = row.get(f"mean_{name}"), row.get(f"max_{name}")
    return "" if mean is None or most is None else f"{mean:.0f} {unit}, at most {most:.0f} {unit}"


def _known(write: Callable[[Any], str], value: float | None) -> str:
    return "" if value is None else write(value)


def _plain(name: str, head: str = "", device: bool = False) -> Column:
    return Column(head or name, lambda row: str(row[name]), device=device)


def _number(head: str, write: Callable[[Any], str], name: str = "") -> Column:
    return Column(head, lambda row: write(row[name or head]), number=True)


_DEVICE = _plain("device", device=True)
_SITE, _BASIS, _COUNT = Column("site", _site), _plain("basis"), _number("count", units.times)
_ESTIMATED = "estimated"
_PLACEMENT = (_DEVICE, _number("ops", units.count))
_HOPS = (
    _number("#", str, "number"),
    Column("from", lambda row: endpoint(row["src"], row["src_memory"]), device=True),
    Column("to", lambda row: endpoint(row["dst"], row["dst_memory"]), device=True),
    _plain("tensor"),
    _plain("op", "for"),
    _number("bytes", units.size),
    Column(_ESTIMATED, _copy_time, number=True),
    _COUNT,
    Column("site", _site, more=_other_sites),
    _plain("cause"),
    _BASIS,
)
_COLLECTIVES = (
    _plain("op"),
    Column("devices", lambda row: ", ".join(row["devices"])),
    _number("tensors", units.count),
    _number("payload", units.size, "payload_bytes"),
    _number("on the wire", units.size, "wire_bytes"),
    _plain("algorithm"),
    _COUNT,
    _SITE,
    _BASIS,
)
_SYNCS = (
    Column(
        "device",
        lambda row: shown(row["device"], row.get("waits_for") or "", row.get("waits_for_too") or ()),
        device=True,
    ),
    _plain("kind"),
    _SITE,
    _COUNT,
    Column("waited", _waited, number=True),
    Column("of it copying", lambda row: copied(row["wait_ns"], row["copy_ns"]), number=True),
    Column("basis", _sync_basis),
)
_MEMORY = (_DEVICE, Column("peak", _peak, number=True), Column("basis", _memory_basis))
_SAMPLES = (
    _plain("name", "of"),
    _number("samples", units.count, "count"),
    Column(
        "busy", lambda row: _most(row, "utilization_percent", "%") or _most(row, "cpu_percent", "%"), True
    ),
    Column("peak memory", lambda row: _known(units.size, row["peak_memory_bytes"]), number=True),
    Column("power", lambda row: _most(row, "power_watts", "W"), number=True),
    Column("energy", lambda row: _known(units.energy, row.get("energy_joules")), number=True),
)
_OPS = (
    _plain("name"),
    _plain("type"),
    Column("requested", lambda row: row["requested"] or "-"),
    _plain("assigned", device=True),
    _SITE,
)
