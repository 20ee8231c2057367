"""Threads that take turns: a loop that hands work to a pool, waits for all of it, and goes on.

Each thread by itself then tells too little: the loop's own line may be the only one in its thread, and what
the pool does is done as often as it has tasks, not as often as the program goes round. What tells the rounds
is that they are alike: between any two turns of the thread that came first the others do the same work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from app.facts.frequency.iterations import LEAST_ROUNDS, Happened, Line, Loop, line_of
from probes.trace.rows import Key

_WORK = ("op", "call")
_NEARLY_ALL = 0.9


class Turns:
    """The turns of one process's threads."""

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
