"""What each line of the user's code made the devices do, and the lines around one as they were then."""

from __future__ import annotations

import ast
import dataclasses
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.facts.basis import total, weakest
from app.facts.collectives import Collective
from app.facts.devices import in_order
from app.facts.groups import grouped
from app.facts.placement import op_table
from app.facts.syncs import Sync
from app.facts.tables import Tables, files_of
from app.facts.transfers.device_matrix import worst
from app.facts.transfers.hops import Hop
from runners.python_source import parse

_AROUND = 2
"""Lines before and after the statement."""
_MOST = 12
"""Of a statement's own lines."""


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
    sent = [
        (row, split_site(hop.site), split_site(hop.producer_site))
        for row, hop in enumerate(hops)
        if hop.count != 0
    ]
    arriving = grouped((place, row) for row, place, _ in sent if place)
    leaving = grouped((made, row) for row, place, made in sent if made and made != place)
    waits = grouped((place, one) for one in syncs if (place := split_site(one.site)) and one.count)
    together = grouped(
        (place, one) for one in collectives if (place := split_site(one.site)) and one.count != 0
    )
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
    files = files_of(tables.locations)
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
    pairs = grouped(((hops[row].src, hops[row].dst), hops[row]) for row in rows)
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


def _started(tables: Tables) -> set[str]:
    """The scripts that processes were started with, as far as their command lines say."""
    found = set()
    for process in tables.processes:
        words, root = process.header.get("argv"), process.header.get("root")
        if isinstance(words, list) and words and isinstance(words[0], str) and isinstance(root, str):
            found.add(posixpath.join(root, posixpath.basename(words[0])))
    return found


def _notes(tables: Tables) -> dict[str, list[str]]:
    notes = (process.header.get("source_notes") for process in tables.processes)
    return grouped(
        (str(file), str(note))
        for of_files in notes
        if isinstance(of_files, dict)
        for file, note in of_files.items()
    )


def _weight(file: SourceFile) -> int:
    return sum(one.ops for line in file.lines.values() for one in line.ops)


@dataclasses.dataclass(frozen=True)
class Excerpt:
    """A few lines of a file, one of them the site's."""

    file: str
    """As sites name it."""
    first: int
    """Number of the first of the lines."""
    lines: tuple[str, ...]
    line: int
    """Number of the site's line."""

    def row(self) -> dict[str, Any]:
        """As the report has it."""
        return dataclasses.asdict(self) | {"lines": list(self.lines)}


def excerpt(site: str | None, text: Sequence[str] | None) -> Excerpt | None:
    """The lines around `site` in a file's lines; None where there is no such line or no text."""
    place = split_site(site)
    if place is None or not text or not 1 <= place[1] <= len(text):
        return None
    file, line = place
    begins, ends = _statement(text, line)
    if ends - begins >= _MOST:
        begins, ends = max(begins, line - _AROUND), min(ends, line + _AROUND)
    first, last = max(1, begins - _AROUND), min(len(text), ends + _AROUND)
    while first < begins and not text[first - 1].strip():
        first += 1
    while last > ends and not text[last - 1].strip():
        last -= 1
    return Excerpt(file, first, tuple(text[first - 1 : last]), line)


def _statement(text: Sequence[str], line: int) -> tuple[int, int]:
    """First and last line of the innermost statement at a line; of one with a body only its head."""
    try:
        tree = parse("\n".join(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return line, line
    found = (line, line)
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or node.end_lineno is None:
            continue
        body = getattr(node, "body", None)
        ends = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
        if node.lineno <= line <= max(ends, node.lineno):
            found = node.lineno, max(ends, node.lineno)
    return found
