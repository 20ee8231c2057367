"""What makes a run's steps, where several lines apply optimizers: loops one after the other, or in turn.

A pretraining's steps and a fine-tuning's add up, as do a policy's eighty updates and a value's in every
epoch. Two networks that are updated in turn make a step together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

from app.store.database import Database
from app.store.totals import KeyTotals
from probes.trace.rows import Key

_LEAST_IN_A_ROW = 6
"""Steps that a loop makes before another's come, on the average; what is called in turn makes fewer."""
_LEAST_IN_TURN = 0.25
"""Part of another's steps, below which it comes now and then: an average's update once an epoch."""
_LEAST_PART = 0.1
"""Part of the run's steps that a loop of its own makes, as against a trial before it."""
_LEAST_STEPS = 6

_SQL_TURNS = """
SELECT key, count(*)::BIGINT FROM (
    SELECT key, lag(key) OVER (PARTITION BY process ORDER BY ts_ns) AS before
    FROM events WHERE key IN (SELECT unnest(?::BIGINT[]))
) WHERE before IS DISTINCT FROM key GROUP BY key
"""

_SQL_FIRST = """
SELECT process, key, min(ts_ns), max(ts_ns), min(ts_ns) FILTER (number = 2) FROM (
    SELECT process, key, ts_ns, row_number() OVER (PARTITION BY key ORDER BY ts_ns) AS number
    FROM events WHERE key IN (SELECT unnest(?::BIGINT[]))
) GROUP BY process, key
"""


@dataclasses.dataclass(frozen=True)
class Course:
    """Marks of optimizers that make a step together; the one that is applied most often tells the steps."""

    lines: tuple[Key, ...]
    """Those that are a loop of their own for themselves, the most steps first."""

    @property
    def steps(self) -> int:
        """How often the leading one was applied."""
        return self.lines[0].count or 0


def step_marks(keys: Iterable[Key]) -> dict[int, list[Key]]:
    """The marks of applied optimizers, by process."""
    found: dict[int, list[Key]] = {}
    for key in keys:
        if key.kind == "mark" and key.fields.get("name") == "step" and key.count:
            found.setdefault(key.id >> 32, []).append(key)
    return found


def turns(database: Database, marks: Mapping[int, list[Key]]) -> dict[int, int]:
    """How often each mark came after another of its process, where there are several."""
    ids = [key.id for several in marks.values() if len(several) > 1 for key in several]
    return dict(database.query(_SQL_TURNS, (ids,))) if ids else {}


def first_step_end(database: Database, marks: Iterable[Key]) -> int | None:
    """When the first process was through its first step; None where none was.

    Of optimizers that take turns it ends with the last one that comes before any comes again.
    """
    of_process: dict[int, list[tuple[int, int, int | None]]] = {}
    for process, _, *times in database.query(_SQL_FIRST, ([key.id for key in marks],)):
        of_process.setdefault(process, []).append((times[0], times[1], times[2]))
    return min(map(_first_turn_end, of_process.values()), default=None)


def _first_turn_end(times: list[tuple[int, int, int | None]]) -> int:
    """Of each mark's first, last and second time."""
    begun, leading_end, _ = min(times)
    again = min((second for _, _, second in times if second is not None), default=begun)
    return max((first for first, _, _ in times if first <= leading_end and first < again), default=begun)


def courses(
    marks: Iterable[Key], totals: Mapping[int, KeyTotals], in_turn: Mapping[int, int]
) -> list[Course]:
    """The courses of one process, the most steps first.

    `in_turn` is how often a mark came after another; one that is not told of came each time after another.
    """
    found: list[list[Key]] = []
    for key in sorted(marks, key=lambda key: -(key.count or 0)):
        course = next((one for one in found if _together(one, key, totals, in_turn)), None)
        if course is None:
            found.append([key])
        elif (key.count or 0) >= _LEAST_IN_TURN * (course[0].count or 0):
            course.append(key)
    return sorted((Course(tuple(lines)) for lines in found), key=lambda course: -course.steps)


def loops_of_steps(of_process: list[Course]) -> list[Key]:
    """The marks by which what happens in one of several loops recurs; none where one loop makes all steps."""
    lines = [key for course in of_process for key in course.lines]
    if len(lines) < 2:
        return []
    least = max(_LEAST_STEPS, _LEAST_PART * sum(course.steps for course in of_process))
    return [key for key in lines if (key.count or 0) >= least]


def _together(
    course: list[Key], key: Key, totals: Mapping[int, KeyTotals], in_turn: Mapping[int, int]
) -> bool:
    """Whether an optimizer is applied while the course goes on, and not in loops of its own."""
    leading, own = totals.get(course[0].id, KeyTotals()), totals.get(key.id, KeyTotals())
    overlaps = own.first_ns <= leading.end_ns and leading.first_ns <= own.end_ns
    count = key.count or 0
    return overlaps and count < _LEAST_IN_A_ROW * in_turn.get(key.id, count)
