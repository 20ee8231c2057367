"""Reads a run's paces from its events while it grows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from app.store.courses import courses, loops_of_steps, step_marks, turns
from app.store.database import Database
from app.store.paces import MOST, Paces, marks_of, read_paces
from app.store.totals import KeyTotals
from probes.trace.rows import Key

_Stamp = tuple[tuple[int, int], ...]
"""Marks and their counts, as far as these are looked at."""


class PaceReader:
    """Keeps what does not change any more: only a run's first steps are looked at."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[int, ...], tuple[_Stamp, Paces]] = {}

    def read(self, keys: Sequence[Key], totals: Mapping[int, KeyTotals]) -> Paces:
        """The paces of these keys, by all steps of their processes and by those of each loop that trains."""
        steps = step_marks(keys)
        in_turn = turns(self._database, steps)
        of_steps = {process: courses(marks, totals, in_turn) for process, marks in steps.items()}
        loops = [mark for of_process in of_steps.values() for mark in loops_of_steps(of_process)]
        return dataclasses.replace(
            self._paces(marks_of(keys, of_steps)),
            in_turn=in_turn,
            of_loops=tuple((mark, self._paces([mark])) for mark in loops),
        )

    def _paces(self, marks: Sequence[Key]) -> Paces:
        ids = tuple(sorted(key.id for key in marks))
        # Only the first so many steps are looked at, and only those that are over.
        stamp = tuple((key.id, min(key.count or 0, MOST + 1)) for key in marks)
        known = self._known.get(ids)
        if known is None or known[0] != stamp:
            known = self._known[ids] = (stamp, read_paces(self._database, marks))
        return known[1]
