"""How busy each GPU is, for choosing one: free memory, load, who uses it; and a warning of a bad choice."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from app.components.table.table import Column, Look, table
from app.views import units
from app.views.text import escape_markdown
from probes.nvml.missing import is_missing
from runners.machine import monitor

COLUMNS = (
    Column("card", "GPU", "label", help="As nvidia-smi numbers them"),
    Column("becomes", "In the program", "label"),
    Column("name", "Card", "label"),
    Column("memory", "Memory used", "progress", help="By programs and the driver; the rest is free"),
    Column("load", "Load", "progress", help="Share of the last second in which a kernel ran"),
    Column("users", "Used by", "text"),
)
BUSY_PERCENT = 20
NEARLY_FULL = 0.25
"""The part of a card's memory below which what is free may not do."""
_EVERY_S = 2.0
_HEIGHT = 2000
"""Pixels, enough for any machine's cards: no row is cut."""
_ALIKE_PERCENT = 5
"""Loads that are no further apart count as the same."""
_MOST_USERS = 3


@dataclasses.dataclass(frozen=True)
class CardLoad:
    """One card now; None where its driver does not say."""

    device: str
    name: str
    free_bytes: int | None
    total_bytes: int | None
    load_percent: float | None
    users: tuple[str, ...] = ()
    """Commands of the processes on it, with their users."""
    unreadable: str | None = None

    @property
    def busy(self) -> str:
        """Why it is a bad choice now; '' where nothing speaks against it."""
        reasons = []
        if self.unreadable:
            return f"{self.device} cannot be read: {self.unreadable}"
        if self.load_percent is not None and self.load_percent >= BUSY_PERCENT:
            reasons.append(f"is {self.load_percent:.0f} % busy")
        if (
            self.free_bytes is not None
            and self.total_bytes
            and self.free_bytes < NEARLY_FULL * self.total_bytes
        ):
            reasons.append(f"has only {units.size(self.free_bytes)} of {units.size(self.total_bytes)} free")
        return f"{self.device} {' and '.join(reasons)}" if reasons else ""


def card_loads(snapshot: Mapping[str, Any] | None) -> list[CardLoad]:
    """Each card of a snapshot, in nvidia-smi's order; none without a snapshot."""
    return [_load(gpu) for gpu in (snapshot or {}).get("gpus", ())]


def _load(gpu: Mapping[str, Any]) -> CardLoad:
    name = gpu.get("name")
    listed = gpu.get("processes")
    unread = gpu.get("unreadable")
    return CardLoad(
        f"gpu:{gpu['index']}",
        name if isinstance(name, str) else "",
        _whole(gpu.get("memory_free_bytes")),
        _whole(gpu.get("memory_total_bytes")),
        _whole(gpu.get("utilization_gpu_percent")),
        tuple(map(_user, listed)) if isinstance(listed, list) else (),
        str(unread["reason"]) if unread else None,
    )


def _user(process: Mapping[str, Any]) -> str:
    if process.get("where") == "elsewhere":
        return "a process of another container"
    command, user = process.get("command"), process.get("user")
    words = command.split() if isinstance(command, str) else []
    shown = words[0].rpartition("/")[2] if words else f"process {process.get('pid')}"
    return f"{shown} ({user})" if isinstance(user, str) else shown


def least_busy(loads: Sequence[CardLoad], devices: Sequence[str], number: int) -> list[str]:
    """The `number` of these devices with the least load and then memory in use, in the order given."""
    known = {load.device: load for load in loads}
    ranked = sorted(devices, key=lambda device: _rank(known.get(device)))
    return [device for device in devices if device in ranked[:number]]


def _rank(load: CardLoad | None) -> tuple[bool, bool, int, int]:
    """Small for a good choice; of cards alike, sorting keeps the first."""
    if load is None:
        return (False, False, 0, 0)
    used = 1 - load.free_bytes / load.total_bytes if load.total_bytes and load.free_bytes is not None else 0.0
    steps = round((load.load_percent or 0) / _ALIKE_PERCENT)
    return (load.unreadable is not None, bool(load.busy), steps, round(10 * used))


def loads_panel(chosen: Sequence[str]) -> None:
    """Draws how busy the machine's cards are, kept up to date, and warns of each busy one in `chosen`."""
    watching = monitor.shared()
    if watching.snapshot is None:
        return
    st.fragment(_panel, run_every=_EVERY_S if watching.state == "live" else None)(tuple(chosen))


def _panel(chosen: Sequence[str]) -> None:
    loads = card_loads(monitor.shared().snapshot)
    table(
        COLUMNS,
        load_rows(loads, chosen),
        "loads",
        label="How busy each GPU is",
        look=Look(height=_HEIGHT, searchable=99),
    )
    found = warnings(loads, chosen)
    # Always a line, so that what stands below does not jump when a card's load comes and goes.
    if found:
        st.markdown(f":orange[:material/warning: {escape_markdown('; '.join(found))}.]")
    else:
        st.markdown(":gray[:material/check: Nothing speaks against these cards now.]")


def load_rows(loads: Sequence[CardLoad], chosen: Sequence[str]) -> list[dict[str, Any]]:
    """One row a card, the chosen ones first and in their order."""
    places = {device: place for place, device in enumerate(chosen)}
    ordered = sorted(loads, key=lambda load: places.get(load.device, len(places)))
    return [_row(load, places.get(load.device)) for load in ordered]


def warnings(loads: Sequence[CardLoad], chosen: Sequence[str]) -> list[str]:
    """What speaks against the chosen cards now, one a card."""
    known = {load.device: load.busy for load in loads}
    return [known[device] for device in chosen if known.get(device)]


def _row(load: CardLoad, place: int | None) -> dict[str, Any]:
    more = len(load.users) - _MOST_USERS
    users = ", ".join(load.users[:_MOST_USERS]) + (f" and {more} more" if more > 0 else "")
    becomes = "" if place is None else f"gpu:{place}"
    cells: dict[str, Any] = {
        "card": {"text": load.device},
        "name": {"text": load.name},
        "becomes": {"text": becomes},
        "memory": _memory(load),
        "load": _busy(load),
        "users": {"text": f"cannot be read: {load.unreadable}" if load.unreadable else users},
    }
    return {"id": load.device, "cells": cells}


def _memory(load: CardLoad) -> dict[str, Any]:
    if load.free_bytes is None or not load.total_bytes:
        return {"text": "?", "fraction": None, "sort": -1}
    used = max(0, load.total_bytes - load.free_bytes)
    text = f"{units.size(used)} of {units.size(load.total_bytes)}"
    return {"text": text, "fraction": used / load.total_bytes, "sort": used}


def _busy(load: CardLoad) -> dict[str, Any]:
    if load.load_percent is None:
        return {"text": "?", "fraction": None, "sort": -1}
    fraction = load.load_percent / 100
    text = f"{load.load_percent:.0f} %"
    return {"text": text, "fraction": fraction, "sort": load.load_percent}


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not is_missing(value) else None
