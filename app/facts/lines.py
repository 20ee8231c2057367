"""What each line of the user's code made the devices do: ops by device, bytes in and out, waits."""

from __future__ import annotations

import dataclasses
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from app.facts.basis import weakest
from app.facts.collectives import Collective
from app.facts.devices import in_order
from app.facts.placement import op_table
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.device_matrix import total, worst
from app.facts.transfers.hops import Hop


@dataclasses.dataclass(frozen=True)
class LineOps:
    """What ran on one device because of one line."""

    device: str
    ops: int
    """Distinct ops: of a traced function each op once, however often it is called."""
    types: tuple[tuple[str, int], ...]
    """Types of ops with how many there are of each, most first."""


@dataclasses.dataclass(frozen=True)
class Way:
    """Transfers of one line over one pair of devices."""

    src: str
    dst: str
    bytes_total: int | None
    """In the whole run; None when a part of it is not known."""
    bytes_known: int
    count: int | None
    basis: str
    severity: str
    """The highest of their causes."""


@dataclasses.dataclass(frozen=True)
class Line:
    """One line that has to do with a device."""

    number: int
    ops: tuple[LineOps, ...] = ()
    arriving: tuple[Way, ...] = ()
    """Transfers that ops of this line needed."""
    leaving: tuple[Way, ...] = ()
    """Transfers, for ops of other lines, of what this line made."""
    syncs: tuple[Sync, ...] = ()
    """Waits of this line, the longest first."""
    collectives: tuple[Collective, ...] = ()
    hops: frozenset[int] = frozenset()
    """Rows of the hop table that arrive here or leave from here."""

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that ran something because of it."""
        return tuple(one.device for one in self.ops)

    @property
    def weight(self) -> tuple[int, int]:
        """(bytes that crossed for it or at it in the whole run, as far as known; ops): to rank by."""
        together = sum((one.wire_bytes or 0) * (one.count or 0) for one in self.collectives)
        return together + sum(way.bytes_known for way in self.arriving), sum(one.ops for one in self.ops)


@dataclasses.dataclass(frozen=True)
class SourceFile:
    """One file that has lines in the trace."""

    path: str
    """As sites have it: relative to the script's folder."""
    files: tuple[str, ...]
    """Absolute paths; more than one where processes started in different folders."""
    lines: Mapping[int, Line]
    started: bool = False
    """It is the script that a process was started with."""
    notes: tuple[str, ...] = ()
    """Why its text was not kept, or may not be what ran."""

    @property
    def heaviest(self) -> int:
        """The line for which most bytes crossed, else that made most ops run; of equal ones the first."""
        return max(self.lines, key=lambda number: (self.lines[number].weight, -number))


def split_site(site: str | None) -> tuple[str, int] | None:
    """``train.py:31`` as path and line; None for what is no site."""
    path, _, line = (site or "").rpartition(":")
    return (path, int(line)) if path and line.isascii() and line.isdigit() and len(line) < 9 else None


def sites_in_order(sites: Iterable[str | None]) -> list[str]:
    """The sites by file and line."""
    return sorted(filter(None, sites), key=lambda site: split_site(site) or (site, 0))


def source_files(
    tables: Tables, hops: Sequence[Hop], syncs: Iterable[Sync], collectives: Iterable[Collective] = ()
) -> list[SourceFile]:
    """Every file with lines in the trace: scripts that were started first, then by how much they made run.

    `hops` is the run's whole hop table, in whose rows `Line.hops` points.
    """
    ops: dict[tuple[str, int], dict[str, Counter[str]]] = {}
    for op in op_table(tables):
        place = split_site(op.site)
        if place and op.assigned:
            ops.setdefault(place, {}).setdefault(op.assigned, Counter())[op.type] += 1
    arriving: dict[tuple[str, int], list[int]] = {}
    leaving: dict[tuple[str, int], list[int]] = {}
    for row, hop in enumerate(hops):
        if hop.count == 0:
            continue
        place, made = split_site(hop.site), split_site(hop.producer_site)
        if place:
            arriving.setdefault(place, []).append(row)
        if made and made != place:
            leaving.setdefault(made, []).append(row)
    waits: dict[tuple[str, int], list[Sync]] = {}
    for sync in syncs:
        if (place := split_site(sync.site)) and sync.count:
            waits.setdefault(place, []).append(sync)
    together: dict[tuple[str, int], list[Collective]] = {}
    for one in collectives:
        if (place := split_site(one.site)) and one.count != 0:
            together.setdefault(place, []).append(one)
    found: dict[str, dict[int, Line]] = {}
    for place in sorted({*ops, *arriving, *leaving, *waits, *together}):
        path, number = place
        rows_in, rows_out = arriving.get(place, []), leaving.get(place, [])
        found.setdefault(path, {})[number] = Line(
            number,
            tuple(_line_ops(device, ops[place][device]) for device in in_order(ops.get(place, ()))),
            _ways(rows_in, hops),
            _ways(rows_out, hops),
            tuple(waits.get(place, ())),
            tuple(together.get(place, ())),
            frozenset((*rows_in, *rows_out)),
        )
    files = _files(tables)
    started = _started(tables)
    notes = _notes(tables)
    made_files = [
        SourceFile(
            path,
            files.get(path, ()),
            lines,
            any(file in started for file in files.get(path, ())),
            tuple(dict.fromkeys(note for file in files.get(path, ()) for note in notes.get(file, ()))),
        )
        for path, lines in found.items()
    ]
    return sorted(made_files, key=lambda file: (not file.started, -_weight(file), file.path))


def _line_ops(device: str, types: Counter[str]) -> LineOps:
    return LineOps(device, types.total(), tuple(types.most_common()))


def _ways(rows: Sequence[int], hops: Sequence[Hop]) -> tuple[Way, ...]:
    pairs: dict[tuple[str, str], list[Hop]] = {}
    for row in rows:
        pairs.setdefault((hops[row].src, hops[row].dst), []).append(hops[row])
    ways = [
        Way(
            *pair,
            total(hop.bytes_total for hop in part),
            sum(hop.bytes_total or 0 for hop in part),
            total(hop.count for hop in part),
            weakest(hop.basis for hop in part),
            worst(part),
        )
        for pair, part in pairs.items()
    ]
    return tuple(sorted(ways, key=lambda way: (-way.bytes_known, way.src, way.dst)))


def _files(tables: Tables) -> dict[str, tuple[str, ...]]:
    files: dict[str, dict[str, None]] = {}
    for location in tables.locations.values():
        if place := split_site(location.site):
            files.setdefault(place[0], {})[location.file] = None
    return {path: tuple(known) for path, known in files.items()}


def _started(tables: Tables) -> set[str]:
    """The scripts that processes were started with, as far as their command lines say."""
    found = set()
    for process in tables.processes:
        words, root = process.header.get("argv"), process.header.get("root")
        if isinstance(words, list) and words and isinstance(words[0], str) and isinstance(root, str):
            found.add(posixpath.join(root, posixpath.basename(words[0])))
    return found


def _notes(tables: Tables) -> dict[str, list[str]]:
    notes: dict[str, list[str]] = {}
    for process in tables.processes:
        told = process.header.get("source_notes")
        for file, note in told.items() if isinstance(told, dict) else ():
            notes.setdefault(str(file), []).append(str(note))
    return notes


def _weight(file: SourceFile) -> int:
    return sum(one.ops for line in file.lines.values() for one in line.ops)
