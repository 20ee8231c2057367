"""What the sections of the Machine page say alike: cards by nvidia-smi's number, and why there is a `?`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from probes.nvml.missing import is_missing
from runners.machine.gpus import Gpu, gpus_of
from runners.machine.visible_devices import listed


def card_name(card: Gpu | Mapping[str, Any]) -> str:
    """`GPU 0`: the card that nvidia-smi counts so."""
    return f"GPU {card.index if isinstance(card, Gpu) else card['index']}"


def unread_reason(gpu: Mapping[str, Any]) -> str | None:
    """Why a snapshot's card cannot be used here, as NVML says it; None where it can."""
    for name in ("unreadable", "uuid", "pci_bus_id", "name"):
        if is_missing(gpu.get(name)):
            return str(gpu[name]["reason"])
    return None


def unread_lines(snapshot: Mapping[str, Any]) -> list[str]:
    """A line a card that cannot be read, with the reason."""
    told = ((card_name(gpu), unread_reason(gpu)) for gpu in snapshot["gpus"])
    return [f"{name} cannot be read: {reason}." for name, reason in told if reason]


def no_cards(snapshot: Mapping[str, Any]) -> str:
    """Why there is no card that can be read, without a full stop."""
    lines = unread_lines(snapshot) if snapshot["nvml"] == "ok" else []
    return "; ".join(line[:-1] for line in lines) or gpus_of(snapshot).problem or "NVML reports no GPU"


def question_lines(rows: Iterable[Mapping[str, Any]], names: Mapping[str, str]) -> list[str]:
    """What each `?` of a table's rows is for, a line a reason; `names` gives each row's id its card."""
    met: dict[str, dict[str, None]] = {}
    for row in rows:
        for cell in row["cells"].values():
            reason = cell.get("title")
            if cell["text"] == "?" and reason:
                met.setdefault(str(reason), {})[names[row["id"]]] = None
    return [f"The ? of {listed(list(cards))}: {reason}." for reason, cards in met.items()]
