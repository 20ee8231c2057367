"""Short windows: what ran inside a graph's call, from the runtime's own events, joined to the placed graph.

One call every few seconds gives the times of its ops. Calls of graphs with hops inside loops and branches
give their counts, as often as that costs next to nothing. What no window saw is not guessed.
"""

from __future__ import annotations

import _thread
import os
import threading
import time
from collections import Counter
from typing import Any, Optional

from ..trace.recording import Recording, clock
from ..trace.schema import NodeFields
from .functions import Functions
from .placed import PlacedGraph
from .runtime_events import MARK, Event, Ops, RuntimeEvents, ThreadEvents

EVERY_NS = 5_000_000_000
_LONG_NS = 200_000_000
"""Calls longer than this are not timed: there would be too many events to keep."""
_MOST = 20_000
_SLICE_S = 0.025
"""After this long the events are taken out and recording begins anew: else a loop would fill the memory."""
_MOST_EVENTS = 20_000
"""Of a slice: a loop that leaves more would take too long to read. Its window is over, and says nothing."""
_HOT_NS = 100_000_000
"""What reading the events of one call may cost; then its window is over as well."""
_EVENT_NS = 400
"""What an event costs those who leave it, about."""
_DEAF = 10
"""Counts of a call are used where less than one part in so many of it lay between its slices, unrecorded."""
_PROCESS, _RUN = b"ExecutorState::Process#id=", b"FunctionRun#id="
_TIMES = "when ops inside graph calls ran"


class Window:
    """Recording of one call, in slices: from a thread of its own while the call lasts."""

    @classmethod
    def begun(cls, events: RuntimeEvents, timed: bool, slice_s: float = _SLICE_S) -> Optional[Window]:
        """Begin to record; None where somebody else does."""
        if not events.start():
            return None
        events.mark()
        return cls(events, timed, slice_s)

    def __init__(self, events: RuntimeEvents, timed: bool, slice_s: float) -> None:
        self._timed = timed
        self._slice_s = slice_s
        self._offset = clock() - time.time_ns()
        self.cost_ns = 0
        self._seen: list[tuple[bytes, Event]] = []
        self._events = events
        self._steps: dict[bytes, Counter[bytes]] = {}
        self._open: dict[int, list[Event]] = {}
        """By thread, ops whose step has not ended: the event of what encloses them comes in a later slice."""
        self._mine = b""
        self._thread = 0
        self._began = time.time_ns()
        self._deaf_ns = 0
        """For how long nothing was recorded, between slices."""
        self._lock = threading.Lock()
        self._on = True
        self._ended = _thread.allocate_lock()
        self._ended.acquire()
        # Of the bare module: hooks for new threads, such as a tracer's, are the program's.
        _thread.start_new_thread(self._watch, ())

    def end(self) -> Ops:
        """Stop, and give what ran: nothing where the call was too long, or can't be told from another one."""
        self._ended.release()
        with self._lock:
            over = not self._on
            self._cut(again=False)
        heard = time.time_ns() - self._began - self._deaf_ns
        found = self._steps.pop(self._mine, Counter())
        loose = Counter(self._op(event, b"") for events in self._open.values() for event in events)
        missed = self._deaf_ns * _DEAF > heard
        if (
            over
            or missed
            or not self._mine
            or any(op in step for step in self._steps.values() for op in loose)
        ):
            return Ops(None, [], False, self.cost_ns)
        found.update(loose)
        times = [
            (op, start + self._offset, end - start)
            for step, (op, start, end) in self._seen
            if step in (self._mine, b"")
        ]
        for op, count in found.items():
            found[op] += round(count * self._deaf_ns / heard)
        return Ops(found, times, not self._deaf_ns, self.cost_ns)

    def _watch(self) -> None:
        try:
            while not self._ended.acquire(timeout=self._slice_s):
                with self._lock:
                    if not self._on or self._ended.acquire(blocking=False):
                        return
                    self._cut(again=True)
        except Exception:  # noqa: BLE001 - a thread's error would be printed; the window then says nothing
            with self._lock:
                self._off()

    def _cut(self, again: bool) -> None:
        """Take out what was recorded, and record `again` before it is read: that takes longer."""
        if not self._on:
            return
        begin = clock()
        ended = time.time_ns()
        recorded = self._events.stop()
        # What ends until then is not recorded.
        self._on = again and self._events.start()
        began = time.time_ns()
        count = self._events.count(recorded)
        self.cost_ns += _EVENT_NS * count
        if self._on:
            self._deaf_ns += began - ended
            if count >= _MOST_EVENTS:
                self._off()
        if again and not self._on:
            self._events.free(recorded)
        else:
            for row in self._events.read(recorded):
                self._add(row)
        self.cost_ns += clock() - begin
        if self._on and self.cost_ns > _HOT_NS:
            self._off()

    def _off(self) -> None:
        if self._on:
            self._on = False
            self._events.free(self._events.stop())

    def _add(self, row: ThreadEvents) -> None:
        """Count a thread's ops by the step that they are of: of what encloses them, which ends after them."""
        ops = self._open.pop(row.number, [])
        for event in row.events:
            name = event[0]
            if name.startswith(_PROCESS):
                step = _number(name, _PROCESS)
                counts = self._steps.setdefault(step, Counter())
                while ops and ops[-1][1] >= event[1]:
                    counts[self._op(ops.pop(), step)] += 1
            elif name.startswith(_RUN):
                if not self._mine and row.number == self._thread:
                    self._mine = _number(name, _RUN)
            elif name == MARK:
                self._thread = row.number
            elif not name.startswith(b"Executor"):
                ops.append(event)
        if ops:
            self._open[row.number] = ops

    def _op(self, event: Event, step: bytes) -> bytes:
        op = event[0].partition(b"#")[0].rpartition(b":")[0]
        if self._timed and len(self._seen) < _MOST:
            self._seen.append((step, (op, event[1], event[2])))
        return op


class Windows:
    """Opens a window when one is due."""

    def __init__(self, recording: Recording, functions: Functions) -> None:
        self.recording = recording
        self.functions = functions
        self._due: dict[str, int] = {}
        self._events: Optional[RuntimeEvents] = None
        self._impossible = False
        self._known: dict[tuple[int, str], int] = {}
        self._open = threading.Lock()
        os.register_at_fork(after_in_child=self._forked)

    def begin(self, name: str, last_dur: int) -> Optional[Window]:
        """Begin to record before a call of `name`, if that is due and nobody else profiles."""
        now = clock()
        timed = now >= self._due.get(name, 0) and last_dur <= _LONG_NS and name in self.functions.placed
        if not timed and (self.functions.observed or not self.functions.sampled.due(name)):
            return None
        if timed:
            self._due[name] = now + EVERY_NS
        if self._impossible or not self._open.acquire(blocking=False):
            return None
        if not _profilers_lock().acquire(blocking=False):
            self._open.release()
            return None
        window = None
        try:
            if not _users_profile():
                events = self._usable()
                window = None if events is None else Window.begun(events, timed)
        finally:
            if window is None:
                self._close()
        return window

    def end(self, window: Window) -> Ops:
        """Stop, and give what ran."""
        try:
            return window.end()
        finally:
            self._close()

    def times(self, graph: PlacedGraph, ops: Ops) -> None:
        """Write when the ops of `graph` ran, where that is known."""
        for op, start, dur in ops.times:
            node = graph.nodes.get(op.decode(errors="replace"))
            if node is not None:
                key = self._key(graph.id, node)
                self.recording.kept_counts[key] += 1
                self.recording.event("node", start, max(1, dur), key)

    def _usable(self) -> Optional[RuntimeEvents]:
        """The runtime's events; None where they can't be read, or where that would do harm."""
        if self._events is None:
            why = "this TensorFlow build's events can't be read"
            if _one_of_several():
                # Seen with TensorFlow 2.21: now and then the profiler's end aborts a worker, "double free or
                # corruption", whose network threads are still at work when the call has returned.
                why = "TensorFlow's profiler may abort one process of several"
            else:
                self._events = RuntimeEvents.find()
            if self._events is None:
                self._impossible = True
                self.recording.unseen(_TIMES, why)
                self.functions.sampled.not_possible(why)
        return self._events

    def _close(self) -> None:
        _profilers_lock().release()
        self._open.release()

    def _forked(self) -> None:
        """In a forked child no window is open: its thread is the parent's."""
        if self._open.locked() and self._events is not None:
            self._events.off()
            self._close()

    def _key(self, graph: int, node: tuple[int, str]) -> int:
        identity = (graph, node[1])
        key = self._known.get(identity)
        if key is None:
            fields = NodeFields(graph=graph, node=node[0], device=node[1], basis="sampled")
            key = self._known[identity] = self.recording.key(("node", graph, node[0]), "node", fields)
            self.recording.uncount(key)
        return key


def _number(name: bytes, before: bytes) -> bytes:
    """What stands behind `before` in an event's name: a step's number."""
    return name[len(before) :].partition(b",")[0].rstrip(b"#")


def _profilers_lock() -> Any:
    """What TensorFlow's profiler holds while it begins and ends: who begins one meanwhile waits for us."""
    from tensorflow.python.profiler import profiler_v2

    lock: Any = profiler_v2._profiler_lock
    return lock


def _users_profile() -> bool:
    from tensorflow.python.profiler import profiler_v2

    return profiler_v2._profiler is not None


def _one_of_several() -> bool:
    """Whether this process has become a member of a cluster."""
    from tensorflow.python.eager import context

    here = context.context_safe()
    names = ("_server_def", "_collective_ops_server_def")
    return here is not None and any(getattr(here, name, None) is not None for name in names)


def install(recording: Recording, functions: Functions) -> None:
    """Let function calls have windows."""
    functions.windows = Windows(recording, functions)
