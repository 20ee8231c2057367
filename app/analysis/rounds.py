"""The rounds that a program goes at a line, by what other lines give devices to do between its executions.

Executions without another line's work between them are of one round: all parameters that one call copies.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

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


@dataclasses.dataclass(frozen=True)
class _Work:
    """What ran between two rounds, by line: how often."""

    times: Mapping[str, int]
    first: str
    """The line that ran first; '' for none."""
    devices: frozenset[str]
    ns: int

    @property
    def busiest(self) -> str:
        return max(self.times, key=lambda site: self.times[site], default="")

    @property
    def most(self) -> int:
        return max(self.times.values(), default=0)


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
        self._events = events
        self._keys = keys
        self._full = full
        used = {event.key: keys[event.key] for event in events}
        self._site = {number: site_of(key) for number, key in used.items()}
        self._works = {
            number
            for number, key in used.items()
            if key.kind == "call" or (key.kind == "op" and key.fields.get("op") not in _FETCHING)
        }

    def lines(self) -> dict[Line, list[int]]:
        """Where among the events each line's are, of those that have enough."""
        places: dict[Line, list[int]] = {}
        for place, event in enumerate(self._events):
            key = self._keys[event.key]
            if key.kind != "op":
                places.setdefault(line_of(key, self._site[event.key]), []).append(place)
        return {line: found for line, found in places.items() if len(found) >= LEAST_ROUNDS}

    def loop(self, places: Sequence[int], line: Line) -> Loop | None:
        """The loop in which a line's executions are, as far as single events tell."""
        site = str(line[2])
        rounds = self._visible(self._rounds(places, lambda number: self._site[number] != site), site)
        if len(rounds) < LEAST_ROUNDS:
            taken = line[1] == "sync" or "pull" in line
            rounds = self._rounds(places, lambda number: True) if taken else []
            if len(rounds) < _LEAST_ON_A_LINE:
                return None
        between = [self._work(end + 1, start, site) for (_, end), (start, _) in itertools.pairwise(rounds)]
        # Whatever is built in the first round, runs for the first time.
        later = between[1:]
        others = [work for work in later if work.most > _A_FEW]
        if others and not self._inner(later, rounds, site):
            before, after = self._around(rounds, site)
            if sum(work.most for work in others) + before.most + after.most >= len(rounds):
                return None
            between = [work for work in between if work.most <= _A_FEW]
            torn = sum(work.ns for work in others)
        else:
            torn = 0
        sites = Counter(name for work in between for name in work.times)
        if sites and max(sites.values()) < _NEARLY_ALL * len(between):
            return None
        first, second, end = (self._events[at].ts_ns for at in (rounds[0][0], rounds[1][0], rounds[-1][1]))
        devices = frozenset().union(*(work.devices for work in between))
        executions = bisect.bisect_right(places, rounds[-1][1])
        return Loop(len(rounds), executions, first, end, end - second - torn, devices)

    def _rounds(self, places: Sequence[int], other: Callable[[int], bool]) -> list[tuple[int, int]]:
        """First and last place of each round, without another line's work inside."""
        rounds = [(places[0], places[0])]
        for place in places[1:]:
            begin, end = rounds[-1]
            between = (self._events[at].key for at in range(end + 1, place))
            if any(number in self._works and other(number) for number in between):
                rounds.append((place, place))
            else:
                rounds[-1] = begin, place
        return rounds

    def _visible(self, rounds: list[tuple[int, int]], site: str) -> list[tuple[int, int]]:
        """Those in which all that runs in each is told by itself."""
        begin, end = rounds[0][0], rounds[: _LOOKED_AT + 1][-1][1]
        used = {self._events[at].key for at in range(begin, end)} & self._works
        until = min((self._full[number] for number in used if number in self._full), default=None)
        if until is None:
            return rounds
        return [one for one in rounds if self._events[one[1]].ts_ns <= until]

    def _work(self, begin: int, end: int, site: str) -> _Work:
        """Other lines' work between two places."""
        times: dict[str, Counter[int]] = {}
        devices = set()
        for event in self._events[begin:end]:
            where = self._site[event.key]
            if event.key in self._works and where != site:
                times.setdefault(where, Counter())[event.key] += 1
                devices.add(str(self._keys[event.key].fields.get("device") or ""))
        # A line's ops run as often as the line, or several times in it: most tell how often it ran.
        runs = {where: statistics.median_low(counts.values()) for where, counts in times.items()}
        ns = (
            self._events[min(end, len(self._events) - 1)].ts_ns - self._events[begin - 1].ts_ns
            if begin
            else 0
        )
        return _Work(runs, next(iter(runs), ""), frozenset(devices), ns)

    def _around(self, rounds: Sequence[tuple[int, int]], site: str) -> tuple[_Work, _Work]:
        """What ran before the first round, and after the last."""
        return self._work(0, rounds[0][0], site), self._work(rounds[-1][1] + 1, len(self._events), site)

    def _inner(self, between: Sequence[_Work], rounds: Sequence[tuple[int, int]], site: str) -> bool:
        """Whether the line that runs many times in each round is an inner loop, and not the loop itself.

        It then ran neither less nor more often outside of the rounds, and each time anew after a line that
        runs once. Every tenth round of a loop begins with nothing of its own, and seldom ends with the loop.
        """
        busiest = {work.busiest for work in between}
        often = {work.most for work in between}
        if len(busiest) > 1 or len(often) > 1:
            return False
        inner, times = busiest.pop(), often.pop()
        before, after = self._around(rounds, site)
        anew = all(work.first != inner and work.times[work.first] == 1 for work in between)
        return anew and before.times.get(inner, 0) + after.times.get(inner, 0) == times
