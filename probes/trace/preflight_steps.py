"""How far a pre-flight is: optimizers that take turns make one step together, as in the analysis of a run."""

from __future__ import annotations

from typing import Optional

Mark = tuple[int, int]
"""The line where an optimizer is applied, and what tells apart those of one line."""
_LEAST_IN_A_ROW = 6
"""Steps that a loop makes before another's come, on the average; what is called in turn makes fewer."""


class _After:
    """One mark after the first step."""

    def __init__(self, number: int) -> None:
        self.first = number
        self.last = number
        self.steps = 0
        self.turns = 0
        """How often it came after another."""


class Steps:
    """A process's marks as they come; `enough` once the first step is over and as many more as asked."""

    def __init__(self, more: int) -> None:
        self.enough = False
        self._limit = 1 + more
        self._first: dict[Mark, int] = {}
        """The marks of the first step, with the steps that each told of."""
        self._first_over = False
        self._steps: dict[Mark, int] = {}
        self._calls: dict[Mark, int] = {}
        self._since: dict[Mark, set[Mark]] = {}
        """The marks that came since the last of each."""
        self._full: Optional[Mark] = None
        """The mark that came often enough."""
        self._waiting: set[Mark] = set()
        """What came between its last two times: it is to come once more, so that the step is whole."""
        self._after: dict[Mark, _After] = {}
        self._last: Optional[Mark] = None
        self._number = 0

    def add(self, mark: Mark, times: int = 1) -> bool:
        """An optimizer was applied; whether in the first step still: none of that one's marks came again."""
        again = mark in self._first
        self._first_over = self._first_over or again
        if not self._first_over:
            self._first[mark] = times
        else:
            self._later(mark, times)
        self._steps[mark] = self._steps.get(mark, 0) + times
        self._calls[mark] = self._calls.get(mark, 0) + 1
        self._judge(mark)
        for known, since in self._since.items():
            if known != mark:
                since.add(mark)
        self._since[mark] = set()
        self._last = mark
        return not self._first_over

    @property
    def made(self) -> int:
        """All whole steps; 0 before there was one."""
        return max(self._first.values(), default=0) + self.after_first

    @property
    def after_first(self) -> int:
        """Whole steps after the first: loops one after the other add up, what takes turns counts once."""
        leading: list[_After] = []
        for one in sorted(self._after.values(), key=lambda one: -one.steps):
            in_turn = one.steps < _LEAST_IN_A_ROW * one.turns
            if not (in_turn and any(one.first <= to.last and to.first <= one.last for to in leading)):
                leading.append(one)
        return sum(one.steps for one in leading)

    def _later(self, mark: Mark, times: int) -> None:
        self._number += 1
        known = self._after.setdefault(mark, _After(self._number))
        known.last = self._number
        known.steps += times
        known.turns += self._last != mark

    def _judge(self, mark: Mark) -> None:
        if self._full is not None:
            self._waiting.discard(mark)
            self.enough = not self._waiting or mark == self._full
        elif self._calls[mark] > 1 and self._steps[mark] >= self._limit:
            self._full, self._waiting = mark, set(self._since[mark])
            self.enough = not self._waiting
