"""What stands beside a line of source: chips of devices with their ops, bytes that crossed, waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.components.table.table import Column
from app.facts.basis import BASES, total
from app.facts.collectives import Collective
from app.facts.lines import Line, LineOps, SourceFile, Way
from app.views import units
from app.views.colors import is_alert
from app.web.shared.rows import RunRows

OPS_COLUMNS = (
    Column("device", "Device", "devices"),
    Column(
        "ops", "Distinct ops", "number", help="Each op of a traced function once, however often it is called"
    ),
    Column("types", "Of these types", "text"),
)
_TYPES_SHOWN = 6
_CHIPS, _LONG_CHIPS = 4, 2
"""Devices shown beside a line; fewer where their names have a process in them and take a row each."""


def line_facts(file: SourceFile, row_maker: RunRows) -> list[dict[str, Any]]:
    """What `app.components.source.source.source_lines` puts beside the lines, by line."""
    return [_fact(line, row_maker) for _, line in sorted(file.lines.items())]


def ops_rows(line: Line, row_maker: RunRows) -> list[dict[str, Any]]:
    """The ops of one line, a row a device."""
    return [
        {
            "id": one.device,
            "cells": {
                "device": {"devices": [row_maker.badge(one.device)]},
                "ops": {"text": units.count(one.ops), "sort": one.ops},
                "types": {"text": types_text(one.types)},
            },
        }
        for one in line.ops
    ]


def types_text(types: Sequence[tuple[str, int]]) -> str:
    """``MatMul 6, Relu, 3 more types``."""
    told = [f"{name} {units.count(number)}" if number > 1 else name for name, number in types[:_TYPES_SHOWN]]
    if len(types) > _TYPES_SHOWN:
        told.append(units.plural(len(types) - _TYPES_SHOWN, "more type"))
    return ", ".join(told)


def byte_bases(file: SourceFile) -> list[str]:
    """What the bytes beside a file's lines rest on, the firmest first; none where nothing crossed."""
    found = {way.basis for line in file.lines.values() for way in (*line.arriving, *line.leaving)}
    return [basis for basis in BASES if basis in found]


def _fact(line: Line, row_maker: RunRows) -> dict[str, Any]:
    # One more than fits is shown rather than counted.
    most = _LONG_CHIPS if any("/" in one.device for one in line.ops) else _CHIPS
    shown = line.ops if len(line.ops) <= most + 1 else line.ops[:most]
    rest = line.ops[len(shown) :]
    return {
        "line": line.number,
        "ops": [
            {
                "device": one.device,
                "hue": row_maker.badge(one.device)["hue"],
                "text": units.count(one.ops),
                "title": _told(one),
            }
            for one in shown
        ],
        "more": {"text": f"and {len(rest)} more", "title": "\n".join(map(_told, rest))} if rest else None,
        "arriving": _crossed(line.arriving, line.collectives),
        "leaving": _crossed(line.leaving, ()),
        "waits": _waited(line),
    }


def _told(one: LineOps) -> str:
    return f"{units.plural(one.ops, 'distinct op')} on {one.device}: {types_text(one.types)}"


def _crossed(ways: Sequence[Way], collectives: Sequence[Collective]) -> dict[str, Any] | None:
    """Bytes and transfers in one cell; what goes which way, and on what basis, under the pointer."""
    if not ways and not collectives:
        return None
    titles = [
        f"{way.src} → {way.dst}: {units.transfer(way.bytes_total, way.count, way.bytes_known)}, {way.basis}"
        for way in ways
    ]
    titles += [_together(one) for one in collectives]
    tone = "alert" if any(is_alert(way.severity) for way in ways) else ""
    if not ways:
        size = _sum(lambda one: one.wire_bytes, collectives)
        return {"text": units.size(size), "remark": "collective", "title": "\n".join(titles), "tone": tone}
    size = total(way.bytes_total for way in ways)
    known = sum(way.bytes_known for way in ways)
    text = units.size(size) if size is not None else f"≥ {units.size(known)}" if known else units.UNKNOWN
    times = units.times(total(way.count for way in ways))
    moved = units.size(_sum(lambda one: one.wire_bytes, collectives)) if collectives else ""
    return {
        "text": text,
        "remark": times,
        "below": f"+ {moved} collective" if moved else "",
        "title": "\n".join(titles),
        "tone": tone,
    }


def _sum(of: Callable[[Collective], int | None], collectives: Sequence[Collective]) -> int | None:
    parts = [(of(one), one.count) for one in collectives]
    return total(None if size is None or count is None else size * count for size, count in parts)


def _together(one: Collective) -> str:
    moved = units.transfer(_sum(lambda part: part.wire_bytes, [one]), one.count)
    return f"{one.op} over {', '.join(one.devices)} ({one.algorithm}): {moved} on the wire, {one.basis}"


def _waited(line: Line) -> dict[str, Any] | None:
    if not line.syncs:
        return None
    stood = total(sync.stood_ns for sync in line.syncs)
    titles = [
        f"{sync.kind} of {sync.source}: {units.times(sync.count)}"
        + ("" if sync.stood_ns is None else f", {units.duration(sync.stood_ns / 1e9)}")
        + f", {sync.basis}"
        for sync in line.syncs
    ]
    return {
        "text": units.UNKNOWN if stood is None else units.duration(stood / 1e9),
        "remark": units.times(sum(sync.count for sync in line.syncs)),
        "title": "\n".join(titles),
        "tone": "",
    }
