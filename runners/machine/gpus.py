"""The machine's GPUs as NVML numbers them, for turning `gpu:2` into a UUID that means one card only."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from probes.nvml.missing import is_missing
from runners.errors import HopscopeError
from runners.machine import monitor
from runners.remembered import remembered

KNOWN_FOR_S = 5.0


@dataclasses.dataclass(frozen=True)
class Gpu:
    """One card. `index` is NVML's, which is nvidia-smi's and not always CUDA's."""

    index: int
    uuid: str
    pci_bus_id: str
    name: str
    compute_capability: tuple[int, int] | None
    """None where NVML does not tell it."""

    @property
    def device(self) -> str:
        """How `--devices` names it: `gpu:0`."""
        return f"gpu:{self.index}"


@dataclasses.dataclass(frozen=True)
class Gpus:
    """The cards that could be read; `problem` says why there are none, or why some are missing."""

    cards: tuple[Gpu, ...] = ()
    problem: str | None = None


def known_gpus() -> Gpus:
    """Return the GPUs as they were a few seconds ago at most: asking the driver anew may take a while."""
    watching = monitor.shared()
    if watching.state == "live" and watching.snapshot is not None:
        return gpus_of(watching.snapshot)
    return recent_gpus()


@remembered(KNOWN_FOR_S)
def recent_gpus() -> Gpus:
    """Return what `list_gpus` said a few seconds ago at most."""
    return list_gpus()


def list_gpus() -> Gpus:
    """Return this machine's GPUs in NVML's order; never raises, the reason is in `problem`.

    A process of its own asks: the driver's library stays in the one that loaded it, and a call may hang.
    """
    return gpus_of(monitor.read_once(between_s=0.0))


def gpus_of(snapshot: Mapping[str, Any]) -> Gpus:
    """Return the GPUs that a snapshot of the machine tells."""
    nvml = snapshot["nvml"]
    if nvml != "ok":
        return Gpus(problem=nvml["text"])
    cards, problems = [], []
    for row in snapshot["gpus"]:
        uuid, bus, name = row["uuid"], row["pci_bus_id"], row["name"]
        unread = row["unreadable"] or next((one for one in (uuid, bus, name) if is_missing(one)), None)
        if unread:
            problems.append(f"gpu:{row['index']} cannot be read: {unread['reason']}")
            continue
        cards.append(Gpu(row["index"], uuid, bus, name, _capability(row["compute_capability"])))
    if not cards and not problems:
        problems.append("NVML reports no GPU")
    return Gpus(tuple(cards), "; ".join(problems) or None)


def _capability(told: Any) -> tuple[int, int] | None:
    if is_missing(told):
        return None
    major, _, minor = str(told).partition(".")
    return int(major), int(minor)


def require_gpu(gpus: Gpus, index: int) -> Gpu:
    """Return the card with this NVML index; HopscopeError says which there are, or why there are none."""
    for card in gpus.cards:
        if card.index == index:
            return card
    if not gpus.cards:
        raise HopscopeError(f"gpu:{index} does not exist here: {gpus.problem or 'NVML reports no GPU'}")
    names = ", ".join(card.device for card in gpus.cards)
    raise HopscopeError(f"gpu:{index} does not exist here: this machine has {names}")
