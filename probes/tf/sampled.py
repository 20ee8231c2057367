"""How often hops inside loops and branches happened, from the calls that a window was open for.

The first calls of a function are counted each, later ones as often as that costs a hundredth of the
function's own time. A call in between counts as the last observed ones did, on average: its event says
`SAMPLED`. Where no call was observed the count is unknown.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Mapping
from typing import Optional

from ..trace.recording import LOST, SAMPLED, SINGLE_EVENTS, Recording, clock
from .function_notes import FunctionNote
from .placed import PlacedGraph, Watched
from .runtime_events import Ops

WHAT = "executions of hops inside loops and branches"
_FIRST_NS = 20_000_000
"""What the windows of a function's first calls may cost."""
_SHARE = 100
"""Later ones together cost one of so many parts of what its calls take."""
_AGAIN_NS = 500_000_000
_MOST_SILENT = 7
"""After a window that said nothing there is none for twice so long; twice as long again after each more."""
_LAST = 8
"""Calls that were seen whose average stands for those that were not."""


class _Function:
    """What the calls of a function took, and the windows of them."""

    def __init__(self) -> None:
        self._calls_ns = 0
        self._cost_ns = 0
        self._again = 0
        self._silent = 0
        """Windows in a row that said nothing."""

    def due(self) -> bool:
        return self._cost_ns <= _FIRST_NS + self._calls_ns // _SHARE and clock() >= self._again

    def ran(self, dur: int, ops: Optional[Ops]) -> None:
        self._calls_ns += dur
        if ops is not None:
            self._cost_ns += ops.cost_ns
            self._silent = 0 if ops.counts is not None else min(_MOST_SILENT, self._silent + 1)
            if self._silent:
                self._again = clock() + (_AGAIN_NS << self._silent)


class SampledGraph:
    """The hops of a placed graph that are counted so."""

    def __init__(self, hops: list[Watched]) -> None:
        self.hops = hops
        self.passed = 0
        """Calls between windows of steps. It only grows: no lock is held for it."""
        self._taken = 0
        self.seen: deque[list[int]] = deque(maxlen=_LAST)
        """Executions of each hop in the last calls that were seen."""
        self.unseen = 0
        """Calls since the last event."""
        self.calls = 0
        self.rest = [0.0] * len(hops)
        """Of each hop, what was not yet a whole execution."""

    def take_passed(self) -> None:
        """Count the calls between windows of steps with those that were not seen."""
        more = self.passed - self._taken
        self.unseen += more
        self.calls += more
        self._taken += more

    def guess(self) -> list[int]:
        """Executions of each hop in the calls that were not seen."""
        calls, self.unseen = self.unseen, 0
        found = []
        for index, counts in enumerate(zip(*self.seen)):
            exact = self.rest[index] + calls * sum(counts) / len(counts)
            found.append(round(exact))
            self.rest[index] = exact - found[-1]
        return found


class SampledCounts:
    """Counts the hops inside loops and branches of all graphs that this process calls."""

    def __init__(self, recording: Recording, notes: Mapping[str, FunctionNote]) -> None:
        """`notes` are of the traced functions, by their runtime names."""
        self.recording = recording
        self._notes = notes
        self._functions: dict[str, Optional[_Function]] = {}
        self._graphs: dict[int, SampledGraph] = {}
        self._early: dict[str, int] = {}
        """Calls of functions whose placed graph had not come yet."""
        self._why = "no call was short enough to be observed; run it with --exact to count them"
        self._told: set[int] = set()
        self._lock = threading.Lock()
        recording.tickers.append(self.tick)
        recording.on_open.append(self._told.clear)
        os.register_at_fork(after_in_child=self._forked)

    def due(self, name: str) -> bool:
        """Whether the next call of this function should have a window."""
        try:
            function = self._functions[name]
        except KeyError:
            note = self._notes.get(name)
            function = _Function() if note is not None and note.control_flow else None
            self._functions[name] = function
        return function is not None and function.due()

    def not_possible(self, why: str) -> None:
        """There are no windows in this process."""
        self._why = why

    def ran(self, name: str, graph: Optional[PlacedGraph], dur: int, ops: Optional[Ops]) -> None:
        """A call ended that took `dur` ns: of `graph` where that is known; `ops` ran, by its window."""
        function = self._functions.get(name)
        if function is not None:
            function.ran(dur, ops)
        if graph is None:
            if function is not None:
                self._early[name] = self._early.get(name, 0) + 1
            return
        known = self.of_graph(name, graph)
        if known is None:
            return
        with self._lock:
            known.calls += 1
            if ops is None or ops.counts is None:
                known.unseen += 1
                if known.calls <= SINGLE_EVENTS:  # in which steps they happened is read from single events
                    self._guess(known)
                return
            counts = [hop.executions(ops.counts) for hop in known.hops]
            known.seen.append(counts)
            self._guess(known)
            self._write(known, counts, None if ops.whole else SAMPLED)

    def of_graph(self, name: str, graph: PlacedGraph) -> Optional[SampledGraph]:
        """What counts the hops of a function's graph; None where it has none to count."""
        if not graph.observe:
            return None
        with self._lock:
            known = self._graphs.get(graph.id)
            if known is None:
                if self._functions.get(name) is None:
                    self._functions[name] = _Function()
                known = self._graphs[graph.id] = SampledGraph(list(graph.observe.values()))
                known.unseen = self._early.pop(name, 0)
            return known

    def tick(self) -> None:
        """Count the calls since the last time that no window saw."""
        with self._lock:
            for known in self._graphs.values():
                known.take_passed()
                self._guess(known)
                if self.recording.ending and known.unseen:
                    self.recording.unseen(WHAT, self._why, len(known.hops))
                    self._write(known, [0] * len(known.hops), LOST)
                    known.unseen = 0

    def _guess(self, known: SampledGraph) -> None:
        if known.unseen and known.seen:
            self._write(known, known.guess(), SAMPLED)

    def _write(self, known: SampledGraph, counts: list[int], value: Optional[int]) -> None:
        for hop, count in zip(known.hops, counts):
            if count or value is not None or hop.key not in self._told:
                self._told.add(hop.key)
                self.recording.kept_counts[hop.key] += count
                self.recording.event("hop", clock(), 0, hop.key, count, value)

    def _forked(self) -> None:
        """In a forked child: what the parent has not written yet is the parent's."""
        self._lock = threading.Lock()
        self._told.clear()
        for known in self._graphs.values():
            known.unseen = 0
