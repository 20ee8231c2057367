"""The rounds that a program goes at a line, by what other lines give devices to do between its executions.

Executions without another line's work between them are of one round: all parameters that one call copies.
"""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from app.facts.groups import grouped
from probes.trace.rows import Key

LEAST_ROUNDS = 6
"""From which on something recurs that happens in each; fewer are items handled one by one."""
_LEAST_ON_A_LINE = 10
"""The same where the loop and all that it does stand on one line, so that less tells its rounds."""
_A_FEW = 4
"""Times that another line runs in a round, beyond which it has to be shown to be an inner loop."""
_NEARLY_ALL = 0.9
_LOOKED_AT = 10
"""Rounds by which it is seen what runs in each."""
_FETCHING = frozenset(
    {"ReadVariableOp", "Identity", "_copyto", "VarHandleOp", "AssignVariableOp", "Const", "_zeros"}
)
"""Ops that only fetch or keep what is copied or taken: no work that tells a round."""

Line = tuple[object, ...]
"""What is looked at together in a process: transfers of one op and way at a line, or waits of one kind."""


class Happened(NamedTuple):
    """One execution of a key, told by itself."""

    ts_ns: int
    key: int
    thread: int


@dataclasses.dataclass(frozen=True)
class Loop:
    """How often the program went round at a line."""

    rounds: int
    executions: int
    """In these rounds, by which all of the line's are judged: from some on not all is told by itself."""
    first_ns: int
    end_ns: int
    course_ns: int
    """Time of its rounds but the first, without what came between."""
    devices: frozenset[str] = frozenset()
    """Where other lines had work done between its rounds; with '' for functions, which may run anywhere."""


Numbers = npt.NDArray[np.int64]


@dataclasses.dataclass(frozen=True, eq=False)
class _Work:
    """What ran between two rounds, by line: how often; and on which devices."""

    times: Mapping[str, int]
    devices: frozenset[str]

    @property
    def busiest(self) -> str:
        return max(self.times, key=lambda site: self.times[site], default="")

    @functools.cached_property
    def most(self) -> int:
        return max(self.times.values(), default=0)


@dataclasses.dataclass(frozen=True)
class _Rounds:
    """First and last place of each round among a thread's events."""

    starts: Numbers
    ends: Numbers

    def __len__(self) -> int:
        return len(self.starts)


def line_of(key: Key, site: str) -> Line:
    """What a transfer, wait or call is looked at with: shapes may differ from round to round."""
    names = () if key.kind == "call" else ("kind", "src", "dst", "op", "device")
    return (key.id >> 32, key.kind, site, *(key.fields.get(name) for name in names), taken_by(key))


def taken_by(key: Key) -> object:
    """How Python took a value: a library's call at one line takes several in its own ways; else None."""
    facts = key.fields.get("facts")
    return facts.get("sync") if isinstance(facts, Mapping) else None


class Thread:
    """What one thread did, by time."""

    def __init__(
        self,
        events: Sequence[Happened],
        keys: Mapping[int, Key],
        site_of: Callable[[Key], str],
        full: Mapping[int, int],
    ) -> None:
        number = {key: place for place, key in enumerate(dict.fromkeys(event.key for event in events))}
        self._keys = [keys[key] for key in number]
        self._site = [site_of(key) for key in self._keys]
        self._full = {number[key]: ts for key, ts in full.items() if key in number}
        self._ts = np.array([event.ts_ns for event in events], dtype=np.int64)
        self._key = np.array([number[event.key] for event in events], dtype=np.int64)
        works = [
            key.kind == "call" or (key.kind == "op" and key.fields.get("op") not in _FETCHING)
            for key in self._keys
        ]
        sites = {site: place for place, site in enumerate(dict.fromkeys(self._site))}
        self._work = np.array(works)[self._key]
        self._where = np.array([sites[site] for site in self._site])[self._key]
        self._sites = sites

    def lines(self) -> dict[Line, Numbers]:
        """Where among the events each line's are, of those that have enough."""
        lines = grouped(
            (line_of(key, self._site[number]), number)
            for number, key in enumerate(self._keys)
            if key.kind != "op"
        )
        found = {line: np.flatnonzero(np.isin(self._key, numbers)) for line, numbers in lines.items()}
        return {line: places for line, places in found.items() if len(places) >= LEAST_ROUNDS}

    def loop(self, places: Numbers, line: Line) -> Loop | None:
        """The loop in which a line's executions are, as far as single events tell."""
        others = np.flatnonzero(self._work & (self._where != self._sites[str(line[2])]))
        rounds = self._visible(_rounds(places, others))
        if len(rounds) < LEAST_ROUNDS:
            taken = line[1] == "sync" or "pull" in line
            if not taken:
                return None
            rounds = _rounds(places, np.flatnonzero(self._work))
            if len(rounds) < _LEAST_ON_A_LINE:
                return None
        between, first = self._between(rounds, others)
        torn = 0
        # Whatever is built in the first round, runs for the first time.
        foreign = [place for place, work in enumerate(between) if place and work.most > _A_FEW]
        if foreign:
            before, after = (
                self._counted(others[others < rounds.starts[0]]),
                self._counted(others[others > rounds.ends[-1]]),
            )
            if not _inner(between[1:], first[1:], before, after):
                if sum(between[place].most for place in foreign) + before.most + after.most >= len(rounds):
                    return None
                torn = int(sum(self._ts[rounds.starts[at + 1]] - self._ts[rounds.ends[at]] for at in foreign))
                between = [work for work in between if work.most <= _A_FEW]
        sites: Counter[str] = Counter()
        for work, times in Counter(between).items():
            sites.update(dict.fromkeys(work.times, times))
        if sites and max(sites.values()) < _NEARLY_ALL * len(between):
            return None
        begin, second = int(self._ts[rounds.starts[0]]), int(self._ts[rounds.starts[1]])
        whole = self._whole(rounds)
        end, executions = int(self._ts[whole.ends[-1]]), int(np.sum(places <= whole.ends[-1]))
        devices = frozenset().union(*(work.devices for work in between))
        return Loop(len(whole), executions, begin, end, max(0, end - second - torn), devices)

    def _whole(self, rounds: _Rounds) -> _Rounds:
        """Without a last round of which a part may only be counted."""
        at = rounds.starts[-1], rounds.ends[-1]
        inside = np.unique(self._key[at[0] : at[1] + 1]).tolist()
        cut = any(self._full.get(number, -1) >= self._ts[at[0]] for number in inside)
        return _Rounds(rounds.starts[:-1], rounds.ends[:-1]) if cut else rounds

    def _visible(self, rounds: _Rounds) -> _Rounds:
        """Those in which all that runs in each is told by itself."""
        begin, end = rounds.starts[0], rounds.ends[: _LOOKED_AT + 1][-1]
        used = np.unique(self._key[begin:end][self._work[begin:end]])
        until = min((self._full[number] for number in used.tolist() if number in self._full), default=None)
        if until is None:
            return rounds
        seen = self._ts[rounds.ends] <= until
        return _Rounds(rounds.starts[seen], rounds.ends[seen])

    def _between(self, rounds: _Rounds, others: Numbers) -> tuple[list[_Work], list[str]]:
        """What ran between each two rounds, and the line that ran first; '' for none."""
        gap = np.searchsorted(rounds.ends, others) - 1
        inside = (gap >= 0) & (gap < len(rounds) - 1)
        ran, gap = others[inside], gap[inside]
        size = len(self._keys)
        counts = np.bincount(gap * size + self._key[ran], minlength=(len(rounds) - 1) * size)
        # Most rounds are alike.
        known: dict[bytes, _Work] = {}
        works = []
        for row in counts.reshape(-1, size):
            alike = row.tobytes()
            if alike not in known:
                known[alike] = self._work_of(row)
            works.append(known[alike])
        gaps, at = np.unique(gap, return_index=True)
        begun = dict(zip(gaps.tolist(), self._key[ran[at]].tolist(), strict=True))
        return works, [self._site[begun[place]] if place in begun else "" for place in range(len(works))]

    def _counted(self, ran: Numbers) -> _Work:
        return self._work_of(np.bincount(self._key[ran], minlength=len(self._keys)))

    def _work_of(self, counts: Numbers) -> _Work:
        ran = np.flatnonzero(counts).tolist()
        times = grouped((self._site[number], int(counts[number])) for number in ran)
        devices = {str(self._keys[number].fields.get("device") or "") for number in ran}
        # A line's ops run as often as the line, or several times in it: most tell how often it ran.
        runs = {site: statistics.median_low(found) for site, found in times.items()}
        return _Work(runs, frozenset(devices))


def _rounds(places: Numbers, others: Numbers) -> _Rounds:
    """Executions with none of the others between them are of one round."""
    before = np.searchsorted(others, places)
    apart = np.diff(before) > 0
    return _Rounds(places[np.r_[True, apart]], places[np.r_[apart, True]])


def _inner(between: Sequence[_Work], first: Sequence[str], before: _Work, after: _Work) -> bool:
    """Whether the line that runs many times in each round is an inner loop, and not the loop itself.

    It then ran neither less nor more often outside of the rounds, and each time anew after a line that
    runs once. Every tenth round of a loop begins with nothing of its own, and seldom ends with the loop.
    """
    busiest = {work.busiest for work in between}
    often = {work.most for work in between}
    if len(busiest) > 1 or len(often) > 1:
        return False
    inner, times = busiest.pop(), often.pop()
    anew = all(site != inner and work.times[site] == 1 for site, work in zip(first, between, strict=True))
    return anew and before.times.get(inner, 0) + after.times.get(inner, 0) == times
