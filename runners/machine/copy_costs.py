"""What a copy between two devices of this machine costs, once measured; kept by its cards and driver."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from probes import private_files
from runners.runs import run_files
from runners.runs.registry import home
from runners.runs.run_fields import Plain

FOLDER_NAME = "machine"
FILE_NAME = "copy_costs.json"
HOST = "host"
PINNED, PAGEABLE = "pinned", "pageable"
BASIS = "estimated"
"""Of a time that follows from measured costs and a transfer's size."""
_MOST_MACHINES = 16


@dataclasses.dataclass(frozen=True)
class Pair:
    """Copies from one end to another: GPUs by UUID, or the host."""

    src: str
    dst: str
    bytes_per_second: float
    """Of a large copy."""
    latency_seconds: float
    """Of the smallest copy, from asking for it to its being done."""
    memory: str | None = None
    """Of the host's end: pinned or pageable."""
    peer: bool | None = None
    """Whether one card reaches the other's memory directly; None but between two cards."""

    def seconds(self, size: int) -> float:
        """What a copy of so many bytes takes."""
        return self.latency_seconds + size / self.bytes_per_second


@dataclasses.dataclass(frozen=True)
class Costs:
    """One measurement of a machine."""

    made: float
    """Epoch seconds."""
    driver: str | None
    host: str
    size_bytes: int
    """Of the large copies."""
    pairs: tuple[Pair, ...]
    skipped: tuple[Mapping[str, Any], ...] = ()
    """What was not measured: src, dst (None for all of a card), reason."""

    @property
    def uuids(self) -> frozenset[str]:
        """The cards that something was measured of."""
        return frozenset(end for pair in self.pairs for end in (pair.src, pair.dst)) - {HOST}

    def pair(self, src: str, dst: str, memory: str = PAGEABLE) -> Pair | None:
        """The costs between two ends; with the host, of this memory of it."""
        wanted = memory if HOST in (src, dst) else None
        for pair in self.pairs:
            if (pair.src, pair.dst, pair.memory) == (src, dst, wanted):
                return pair
        return None

    def as_json(self) -> dict[str, Any]:
        """As it is kept."""
        return dataclasses.asdict(self)


def from_json(kept: Any) -> Costs | None:
    """Return what `as_json` gave; None for what is not that."""
    try:
        return Costs(
            float(kept["made"]),
            kept["driver"],
            str(kept["host"]),
            int(kept["size_bytes"]),
            tuple(_pair(row) for row in kept["pairs"]),
            tuple(dict(row) for row in kept["skipped"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _pair(row: Mapping[str, Any]) -> Pair:
    pair = Pair(
        str(row["src"]),
        str(row["dst"]),
        float(row["bytes_per_second"]),
        float(row["latency_seconds"]),
        row.get("memory"),
        row.get("peer"),
    )
    if not pair.bytes_per_second > 0 or pair.latency_seconds < 0:
        raise ValueError(f"no possible cost: {row}")
    return pair


def costs_file() -> Path:
    """Where the measurements are kept."""
    return home() / FOLDER_NAME / FILE_NAME


def load(
    uuids: Iterable[str] = (), driver: str | None = None, any_of: Iterable[str] | None = None
) -> Costs | None:
    """Return the newest measurement, None without one.

    With all cards of `uuids`, one of `any_of` and this driver, where they are given.
    """
    every = frozenset(uuids)
    some = None if any_of is None else frozenset(any_of)
    for costs in _kept():
        if every <= costs.uuids and (some is None or some & costs.uuids) and driver in (None, costs.driver):
            return costs
    return None


def costs_of_run(folder: Path, uuids: Iterable[str]) -> Costs | None:
    """Return the newest measurement of any of a run's cards: the machine's, or the one kept with the run."""
    wanted = frozenset(uuids)
    try:
        own = from_json(Plain().value(json.loads(run_files.read_file(folder, FILE_NAME))))
    except (OSError, ValueError, RecursionError):
        own = None
    found = [costs for costs in (load(any_of=wanted), own) if costs is not None and wanted & costs.uuids]
    return max(found, key=lambda costs: costs.made, default=None)


def keep_with_run(folder: Path, uuids: Iterable[str]) -> None:
    """Copy what is known of a run's cards into its folder, which may be opened on another machine."""
    wanted = frozenset(uuids)
    costs = load(any_of=wanted)
    if costs is not None:
        ends = wanted | {HOST}
        pairs = tuple(pair for pair in costs.pairs if {pair.src, pair.dst} <= ends)
        text = json.dumps(dataclasses.replace(costs, pairs=pairs, skipped=()).as_json())
        private_files.write_file(str(folder / FILE_NAME), f"{text}\n".encode())


def save(costs: Costs) -> None:
    """Keep a measurement, in place of an older one of the same cards and driver."""
    machine = (costs.uuids, costs.driver)
    others = [one for one in _kept() if (one.uuids, one.driver) != machine]
    kept = [one.as_json() for one in [costs, *others][:_MOST_MACHINES]]
    file = costs_file()
    private_files.make_folder(str(file.parent))
    private_files.replace_file(str(file), json.dumps({"version": 1, "machines": kept}).encode())


def _kept() -> list[Costs]:
    """All that is kept, newest first; a damaged file is none."""
    try:
        found = json.loads(costs_file().read_text())["machines"]
        read = [from_json(one) for one in found]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    return sorted((one for one in read if one), key=lambda one: -one.made)


@dataclasses.dataclass(frozen=True)
class Copy:
    """A copy between two devices, by a run's own names."""

    src: str
    dst: str
    size: int | None
    count: int | None = 1
    src_memory: str = "device"
    dst_memory: str = "device"


def estimate(costs: Costs | None, device_map: Mapping[str, Mapping[str, Any]], copy: Copy) -> float | None:
    """Return the seconds that all of a copy takes; None where that was not measured.

    `device_map` says what the devices are. The host's memory counts as pageable,
    which Python's and numpy's is. None for stand-ins, whose copies cost nothing like it.
    """
    if costs is None or copy.size is None or copy.count is None:
        return None
    ends = [_end(copy.src, copy.src_memory, device_map), _end(copy.dst, copy.dst_memory, device_map)]
    if None in ends:
        return None
    pair = costs.pair(str(ends[0]), str(ends[1]))
    return None if pair is None else pair.seconds(copy.size) * copy.count


def _end(device: str, memory: str, device_map: Mapping[str, Mapping[str, Any]]) -> str | None:
    """``host`` or the card's UUID; None for a stand-in and for a device that is not one certain card."""
    kind, _, number = device.rpartition("/")[2].partition(":")
    facts = device_map.get(device, {})
    if facts.get("stand_in"):
        return None
    if kind == "cpu":
        return HOST if number == "0" else None
    if facts.get("also") or not isinstance(facts.get("uuid"), str):
        return None
    return HOST if memory == "host" else str(facts["uuid"])
