"""In which steps something happened: what happens in each is told apart from what happened while building.

Looked at are the first steps after the first one: whatever a program does before, such as filling variables
and tracing, is not of every step however often it happens, nor is an evaluation after every so many steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from app.store.courses import Course
from app.store.database import Database
from probes.trace.recording import SINGLE_EVENTS
from probes.trace.rows import Key

MOST = 100
"""Steps that are looked at; they fit into the bits of one number."""
_MOST_OF_THEM = 0.9
"""Part of the steps in which it must have happened: a function that is traced again misses one."""
_CALLS_A_TURN = 4
"""Calls of a function that a loop may make in each turn."""
_BURSTS, _AT_ONCE = 2, 2
"""Steps that something came with, and times in each, from which on it is a loop that comes again."""
_KINDS = ("hop", "call", "sync")


@dataclasses.dataclass(frozen=True)
class Pace:
    """When something happened, by steps; by calls of the most called function where a run has no steps."""

    early: int = 0
    """Executions before the first step was over."""
    within: int = 0
    """Executions in the steps looked at."""
    mask: int = 0
    """The steps looked at in which it happened, a bit each, the first one's lowest."""
    seen: int = 0
    """How many steps were looked at, after the first."""
    steps_a_mark: float = 1.0
    """Steps between two marks of the recorder."""
    by_calls: bool = False
    """There are no steps: these are calls, of which a loop may make several a turn."""
    last_single: int = 0
    """The last of the steps looked at in which it was told by itself."""
    elsewhere: bool = False
    """It happened in other threads than the steps: those may be ahead, or behind."""

    def and_(self, other: Pace) -> Pace:
        """Of two things together."""
        seen = min(self.seen, other.seen)
        return Pace(
            self.early + other.early,
            self.within + other.within,
            self.mask | other.mask,
            seen,
            self.steps_a_mark,
            self.by_calls,
        )

    def times(self, count: int, rounds: int) -> float:
        """How often in each step, 0 for less, of `count` executions in `rounds` steps.

        Below 1 only for what happens every few calls.
        """
        later, others = count - self.early, max(1, rounds - 1)
        if not self.early and count % rounds == 0:
            others = rounds  # after each step, the last one too
        least = _MOST_OF_THEM / _CALLS_A_TURN if self.by_calls else _MOST_OF_THEM
        if not self.seen or later < least * others or not self._regular():
            return 0.0
        if later >= others:
            return float(later // others)
        return later / others if self.by_calls else float(self.steps_a_mark <= 1)

    def last_steps(self, steps: int) -> int:
        """Of how many of all `steps`, the last ones, it happened in each, and in none before; 0 else.

        As when one loop trains twice, and what it calls after each step is another thing the second time.
        """
        mask = self.mask & ((1 << self.seen) - 1)
        count = mask.bit_count()
        if self.early or self.by_calls or steps != self.seen + 1:
            return 0  # not all steps were looked at
        return count if mask == ((1 << count) - 1) << (self.seen - count) else 0

    def once_in_each_step_elsewhere(self) -> bool:
        """Whether other threads did it once between any two marks of the steps looked at."""
        every = self.mask.bit_count() == self.within == self.seen > 0
        return self.elsewhere and not self.by_calls and every and self.early <= 1

    def in_bursts(self) -> bool:
        """Whether it happened several times at once in some of the steps looked at, in most not at all."""
        times = (self.mask & ((1 << self.seen) - 1)).bit_count()
        return not self.by_calls and _BURSTS <= times <= self.seen / 2 and self.within >= _AT_ONCE * times

    @property
    def in_each_step(self) -> bool:
        """Whether it happened in each of the steps looked at."""
        return 0 < self.seen == (self.mask & ((1 << self.seen) - 1)).bit_count()

    def _regular(self) -> bool:
        mask = self.mask & ((1 << self.seen) - 1)
        if mask.bit_count() >= max(1.0, _MOST_OF_THEM * self.seen):
            return True
        without = max(map(len, f"{mask:0{self.seen}b}".split("1")))
        return self.by_calls and mask.bit_count() > 1 and without < _CALLS_A_TURN


@dataclasses.dataclass(frozen=True)
class Paces:
    """The paces of a run's keys."""

    by_key: Mapping[int, Pace] = dataclasses.field(default_factory=dict)
    by_process: Mapping[int, Pace] = dataclasses.field(default_factory=dict)
    """Process index -> the pace of what did not happen in it; processes without steps or calls have none."""
    in_turn: Mapping[int, int] = dataclasses.field(default_factory=dict)
    """How often the mark of an optimizer came after another's, where several are applied."""
    of_loops: tuple[tuple[Key, Paces], ...] = ()
    """The marks of loops that share a process's steps, and the paces by the steps of each, the most first."""

    def of(self, key: Key) -> Pace | None:
        """None where the key's process has no steps, and where its thread has not."""
        pace = self.by_key.get(key.id) or self.by_process.get(key.id >> 32)
        if pace is not None and pace.elsewhere:
            return None
        told_together = (
            key.kind != "call" and not key.fields.get("graph") and (key.count or 0) > SINGLE_EVENTS
        )
        if pace is None or not told_together:
            return pace
        # Beyond its first executions a key's are told a quarter of a second at a time.
        return dataclasses.replace(pace, seen=min(pace.seen, pace.last_single))


def read_paces(database: Database, marks: Sequence[Key]) -> Paces:
    """Ask the events in which steps, as these keys mark them, their keys happened."""
    if not marks:
        return Paces()
    ids = [key.id for key in marks]
    by_calls = marks[0].kind == "call" or marks[0].fields.get("name") == "record"
    processes = database.query(_MARKS + _SQL_PROCESSES, (ids, MOST + 1))
    seen = {
        process: Pace(seen=number - 1, steps_a_mark=steps / number, by_calls=by_calls)
        for process, number, steps in processes
    }
    paces = {}
    for key, early, within, mask, last, elsewhere in database.query(
        _MARKS + _SQL_KEYS, (ids, MOST + 1, list(_KINDS))
    ):
        here = seen[key >> 32]
        happened = {"early": early, "within": within, "mask": mask, "elsewhere": elsewhere}
        paces[key] = dataclasses.replace(here, **happened, last_single=last or 0)
    for key, process in database.query(_MARKS + _SQL_LATE, (ids, MOST + 1, MOST, list(_KINDS))):
        paces.setdefault(key, dataclasses.replace(seen[process], elsewhere=True))
    return Paces(paces, seen)


def marks_of(keys: Iterable[Key], of_steps: Mapping[int, Sequence[Course]]) -> list[Key]:
    """The keys that mark each process's steps; without steps what autograd records most often, or calls."""
    if of_steps:
        return [course.lines[0] for courses in of_steps.values() for course in courses]
    keys = list(keys)
    recorded = [key for key in keys if key.kind == "mark" and key.fields.get("name") == "record"]
    best: dict[int, Key] = {}
    for key in recorded or [key for key in keys if key.kind == "call"]:
        known = best.get(key.id >> 32)
        if key.count and (known is None or key.count > (known.count or 0)):
            best[key.id >> 32] = key
    return list(best.values())


_MARKS = """
WITH marks AS (
    SELECT process, ts_ns, count, thread, row_number() OVER (PARTITION BY process ORDER BY ts_ns) AS number
    FROM events WHERE key IN (SELECT unnest(?::BIGINT[])) QUALIFY number <= ?
), ends AS (
    SELECT process, max(ts_ns) AS end_ns, max(number) AS number, sum(count) AS steps,
        list(DISTINCT thread) AS threads
    FROM marks GROUP BY process
)
"""
_SQL_PROCESSES = "SELECT process, number, steps::BIGINT FROM ends"
_SQL_KEYS = """
, early AS (
    SELECT events.process, key, ts_ns, count, NOT list_contains(threads, thread) AS elsewhere
    FROM events JOIN ends ON events.process = ends.process
    WHERE ts_ns < end_ns AND kind IN (SELECT unnest(?::VARCHAR[]))
)
SELECT early.key,
    coalesce(sum(early.count) FILTER (number IS NULL), 0)::BIGINT,
    coalesce(sum(early.count) FILTER (number IS NOT NULL), 0)::BIGINT,
    coalesce(bit_or(1::HUGEINT << (number - 1)::INTEGER), 0),
    max(number) FILTER (early.count = 1),
    bool_and(elsewhere)
FROM early ASOF LEFT JOIN marks ON early.process = marks.process AND early.ts_ns >= marks.ts_ns
GROUP BY early.key
"""
_SQL_LATE = """
SELECT key, any_value(events.process) FROM events JOIN ends ON events.process = ends.process
WHERE number <= ? AND ts_ns >= end_ns AND NOT list_contains(threads, thread)
    AND kind IN (SELECT unnest(?::VARCHAR[]))
GROUP BY key
"""
"""What other threads were still to do when the last step was asked for."""
