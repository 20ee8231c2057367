"""The loops of a run that nothing marks: which lines' transfers and waits recur, by what ran between them.

Where neither an optimizer nor a gradient tells what a step is, a line stands in a loop when the program goes
round: between its executions other lines give devices work, one of them each time.

- What comes every so many rounds of another loop has no loop of its own. The other one's lines run more than
  a few times in between; an inner loop's too, but those begin anew after a line that runs once a round.
- What loops of as many rounds interrupt, as training does its evaluations, is not the run's course.
- Nor is a burst: a loop takes a good part of the time in which anything recurs.
- What is brought from the host while its device has nothing else to do, before something runs as often at
  least, are preparations: parameters, data.

In a run with steps these tell, and loops that come when all steps are made: sampling, ranking, simulating. Of
what comes between steps, an evaluation, only its cost tells whether it matters. A single call that goes round
inside, such as a library's scoring of the whole data, is once more an evaluation.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from app.facts.devices import is_host
from app.facts.frequency.iterations import LEAST_ROUNDS, Happened, Line, Loop, Thread, line_of
from app.facts.groups import grouped
from app.store.courses import step_marks
from app.store.totals import KeyTotals
from probes.trace.recording import SINGLE_EVENTS
from probes.trace.rows import Key

KINDS = ("op", "call", "hop", "sync")
_GOOD_PART = 0.1
_TORN = 3.0
"""Times as long as the rounds that were looked at let expect: something came between."""
_LEAST_PART = 0.02
"""Of the time of the steps, that a loop after them takes at least."""
_SRC = 4
"""Where a line says what a transfer comes from."""


def loops(
    events: Sequence[Happened],
    keys: Mapping[int, Key],
    site_of: Callable[[Key], str],
    ends: Mapping[int, int] | None = None,
) -> dict[Line, Loop]:
    """The loop of each line that has one.

    `events` by time; `ends` when keys happened last, ns, where that is known.
    """
    known = [event for event in events if event.key in keys]
    threads = grouped(((event.key >> 32, event.thread), event) for event in known)
    full = _saturated(known)
    last = {event.key: event.ts_ns for event in known} | dict(ends or {})
    by_thread = [Thread(inside, keys, site_of, full) for inside in threads.values()]
    found = grouped(
        (line, loop)
        for thread in by_thread
        for line, places in thread.lines().items()
        if (loop := thread.loop(places, line)) is not None
    )
    for inside in grouped((event.key >> 32, event) for event in known).values():
        told = [event for event in inside if event.ts_ns <= min(full.values(), default=event.ts_ns)]
        if len({event.thread for event in told}) > 1:
            found |= {line: [loop] for line, loop in Turns(told, keys, site_of).loops(found).items()}
    counts: Counter[Line] = Counter()
    end: dict[Line, int] = {}
    for key in keys.values():
        if key.kind != "op":
            line = line_of(key, site_of(key))
            counts[line] += key.count or 0
            end[line] = max(end.get(line, 0), last.get(key.id, 0))
    whole = {
        line: one
        for line, parts in found.items()
        if (one := _whole(parts, counts[line], end[line])) is not None
    }
    least = _GOOD_PART * _recurring_ns(known, last)
    works = _works_after(known, keys)
    return {
        line: loop
        for line, loop in whole.items()
        if loop.course_ns >= least and not (_only_brings(line, loop) and works(loop.end_ns) >= loop.rounds)
    }


def _saturated(events: Iterable[Happened]) -> dict[int, int]:
    """Keys whose further executions are only counted -> when the last one was told by itself."""
    times: Counter[int] = Counter()
    full = {}
    for event in events:
        times[event.key] += 1
        if times[event.key] >= SINGLE_EVENTS:
            full[event.key] = event.ts_ns
    return full


def _whole(parts: Sequence[Loop], count: int, end_ns: int) -> Loop | None:
    """The loop of a line in all threads, of whose `count` executions a part was looked at."""
    executions, rounds = sum(one.executions for one in parts), sum(one.rounds for one in parts)
    first, end = min(one.first_ns for one in parts), max(one.end_ns for one in parts)
    share = max(1.0, count / executions)
    if end_ns - first > _TORN * share * (end - first):
        return None
    course = round(max(one.course_ns for one in parts) * share)
    devices = frozenset().union(*(one.devices for one in parts))
    return Loop(round(rounds * share), round(executions * share), first, max(end, end_ns), course, devices)


def _recurring_ns(events: Iterable[Happened], last: Mapping[int, int]) -> int:
    """The time in which anything recurred, from its second execution on: the first one builds.

    What two loops share, as of one model after another, does not recur in a pause between them.
    """
    times = grouped((event.key, event.ts_ns) for event in events)
    spans = []
    for key, seen in times.items():
        if len(seen) >= LEAST_ROUNDS:
            longest = _TORN * (seen[-1] - seen[1]) / (len(seen) - 2)
            spans += [(begin, end) for begin, end in itertools.pairwise(seen[1:]) if end - begin <= longest]
            spans.append((seen[-1], last[key]))
    covered, until = 0, -1
    for begin, end in sorted(spans):
        covered += max(0, end - max(begin, until))
        until = max(until, end)
    return covered


def _only_brings(line: Line, loop: Loop) -> bool:
    """Whether it is a transfer from the host to a device that has nothing to do with it meanwhile."""
    if line[1] != "hop" or "pull" in line:
        return False
    src, dst = str(line[_SRC]), str(line[_SRC + 1])
    return is_host(src) and not loop.devices & {dst, ""}


def _works_after(events: Iterable[Happened], keys: Mapping[int, Key]) -> Callable[[int], int]:
    """How often that ran most which ran first after some time."""
    first: dict[int, int] = {}
    for event in events:
        if keys[event.key].kind in ("op", "call"):
            first.setdefault(event.key, event.ts_ns)

    def works(after_ns: int) -> int:
        return max((keys[key].count or 0 for key, ts in first.items() if ts > after_ns), default=0)

    return works


def loops_after_steps(
    keys: Sequence[Key],
    totals: Mapping[int, KeyTotals],
    site_of: Callable[[Key], str],
    single_after: Callable[[int], list[Happened]],
) -> dict[Line, Loop]:
    """The loop of each line that has one, and nothing to do before its process has made all its steps.

    `single_after` gives the executions that are told by themselves after some time in ns.
    """
    found: dict[Line, Loop] = {}
    told = [key for key in keys if key.kind in KINDS]
    spans = {key.id: totals.get(key.id, KeyTotals()) for key in keys}
    for process, marks in step_marks(keys).items():
        begin = min(spans[mark.id].first_ns for mark in marks)
        end = max(spans[mark.id].end_ns for mark in marks)
        # What ran before as well, such as the network itself, is work by which rounds are seen.
        own = {key.id: key for key in told if key.id >> 32 == process}
        before = {
            line_of(key, site_of(key))
            for key in own.values()
            if key.kind != "op" and spans[key.id].first_ns <= end
        }
        ends = {number: spans[number].end_ns for number in own}
        happened = single_after(end)
        for line, loop in loops(happened, own, site_of, ends).items():
            long = loop.course_ns >= _LEAST_PART * (end - begin)
            if line not in before and long and _of_several_lines(loop, happened, own, site_of):
                found[line] = loop
    return found


def _of_several_lines(
    loop: Loop, happened: Sequence[Happened], keys: Mapping[int, Key], site_of: Callable[[Key], str]
) -> bool:
    at = bisect.bisect_left(happened, loop.first_ns, key=lambda event: event.ts_ns)
    sites = set()
    for event in itertools.takewhile(lambda event: event.ts_ns <= loop.end_ns, happened[at:]):
        if event.key in keys:
            sites.add(site_of(keys[event.key]))
        if len(sites) > 1:
            return True
    return False


_WORK = ("op", "call")
_NEARLY_ALL = 0.9


class Turns:
    """The turns of one process's threads: a loop that hands work to a pool, waits for all of it, and goes on.

    Each thread by itself then tells too little: the loop's own line may be the only one in its thread, and
    what the pool does is done as often as it has tasks, not as often as the program goes round. What tells
    the rounds is that they are alike: between any two turns of the thread that came first the others do the
    same work.
    """

    def __init__(
        self, events: Sequence[Happened], keys: Mapping[int, Key], site_of: Callable[[Key], str]
    ) -> None:
        """`events` by time, only while all of them are told one by one."""
        lines = {number: line_of(keys[number], site_of(keys[number])) for number in {e.key for e in events}}
        self._devices = {number: str(keys[number].fields.get("device") or "") for number in lines}
        self._works = {number for number in lines if keys[number].kind in _WORK}
        self._lines = lines
        own, others = _blocks(events)
        self._own, self._others = own[: len(others)], others
        self._threads: dict[Line, set[int]] = {}
        for event in events:
            self._threads.setdefault(lines[event.key], set()).add(event.thread)

    def loops(self, known: Mapping[Line, object]) -> dict[Line, Loop]:
        """The loops of the pool's lines, and of the first thread's own that have none among the `known`."""
        rounds = len(self._others)
        # Before its first turn ends the first thread also prepares, and builds.
        if rounds < LEAST_ROUNDS or not (self._alike(self._others) and self._alike(self._own[1:])):
            return {}
        shared = {line for line in self._recurring(self._others) if len(self._threads[line]) > 1}
        alone = {line for line in self._recurring(self._own) if line not in known}
        found = {line: self._loop(line, self._others, self._own) for line in shared}
        return found | {line: self._loop(line, self._own, self._others) for line in alone - shared}

    def _alike(self, blocks: Sequence[Sequence[Happened]]) -> bool:
        done = [frozenset(Counter(e.key for e in block if e.key in self._works).items()) for block in blocks]
        (most, times), *_ = Counter(done).most_common(1)
        return bool(most) and times >= min(len(done) - 1, _NEARLY_ALL * len(done))

    def _recurring(self, blocks: Sequence[Sequence[Happened]]) -> list[Line]:
        """The lines that are in nearly all of these."""
        times = Counter(line for block in blocks for line in {self._lines[event.key] for event in block})
        return [
            line for line, count in times.items() if line[1] != "op" and count >= _NEARLY_ALL * len(blocks)
        ]

    def _loop(
        self, line: Line, blocks: Sequence[Sequence[Happened]], others: Sequence[Sequence[Happened]]
    ) -> Loop:
        times = [[e.ts_ns for e in block if self._lines[e.key] == line] for block in blocks]
        runs = [some for some in times if some]
        first, second, end = runs[0][0], runs[1][0], runs[-1][-1]
        devices = {self._devices[e.key] for part in (*blocks, *others) for e in part if e.key in self._works}
        return Loop(len(blocks), sum(map(len, runs)), first, end, end - second, frozenset(devices))


def _blocks(events: Sequence[Happened]) -> tuple[list[list[Happened]], list[list[Happened]]]:
    """What the thread that came first did until another one did something, and what the others did then."""
    own: list[list[Happened]] = []
    others: list[list[Happened]] = []
    for event in events:
        if event.thread == events[0].thread:
            if len(own) == len(others):
                own.append([])
            own[-1].append(event)
        else:
            if len(others) < len(own):
                others.append([])
            others[-1].append(event)
    return own, others
