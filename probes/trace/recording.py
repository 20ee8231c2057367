"""One process's recording: interned strings, keys and their exact counts, events, steps, ticks.

What frameworks' recorders share. Hot paths increment a counter in mapped memory; each key's first
executions are events of their own, and from then on a tick writes the increase four times a second.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Hashable, Sequence
from typing import Callable, Optional

from .guard import Guard, failed
from .header import header, trace_names
from .idle import DeferredWriter, IdleWriter
from .refusals import note
from .root import script_folder
from .rows import BETWEEN_WINDOWS
from .schema import Edge, KeyFields, KindName, LaterFacts, MarkFields, Node
from .sites import Sites
from .sources import Sources
from .step_windows import WHY as WHY_BETWEEN_WINDOWS
from .step_windows import StepWindows
from .ticking import Ticking
from .writer import NoWriter, TraceWriter, Written

SINGLE_EVENTS = 200
"""Executions of a key that become events of their own before counting takes over."""
LOST = 1
"""An event's value that says: not every execution of this key could be observed."""
SAMPLED = 0
"""An event's value that says: the count follows from other executions."""
_ONLY_COUNTED = ("again", "pulled")
"""Kinds of keys that have a count and no events."""

clock = time.monotonic_ns


class Recording:
    """What this process records; made once the first framework is imported."""

    def __init__(self, folder: Optional[str], framework: str, root: Optional[str] = None) -> None:
        """Start a trace in `folder`; raises OSError where it can't be written.

        Without a folder nothing is kept until `open` names one. Sites are relative to `root`, by default the
        script's folder.
        """
        self.folder = folder or ""
        self.framework = framework
        self.process = "main"
        self.unseen_counts: dict[tuple[str, str], int] = {}
        self.step: Optional[int] = None
        """Optimizer applications finished so far; None while there was none."""
        self.whole = False
        """The whole process is recorded, not a block of it."""
        self.late = False
        """The framework had been imported before: what was traced or bound by then was not seen."""
        self.tickers: list[Callable[[], None]] = []
        self.on_open: list[Callable[[], None]] = []
        """Called when another trace has been opened: what was told in the last one is not in this."""
        self.after_window: list[Callable[[], None]] = []
        """Called where a pause begins: all that is alive now was looked at."""
        self._lock = threading.RLock()
        self._strings: dict[str, int] = {}
        self._keys: dict[Hashable, int] = {}
        self._counted: list[tuple[int, KindName]] = []
        self._places: dict[int, int] = {}
        """Of keys, where they are in these lists."""
        self.hooked: list[int] = []
        self._written_counts: list[int] = []
        self._next = {"L": 1, "K": 1, "G": 1}
        self.ending = False
        """The process is saying goodbye: the last tick runs."""
        self._ticker_guard = self.guard("what is looked at four times a second")
        self._ended = False
        self._facts: LaterFacts = {}
        self._ticking: Optional[Ticking] = None
        self.pid = os.getpid()
        self.mono = clock()
        self.root = root or script_folder()
        self.counts = memoryview(bytearray(8)).cast("q")
        self.windows = StepWindows(self)
        self.writer: TraceWriter = self._open() if folder else IdleWriter([], 0)
        self.counts = self.writer.counts
        self.sites = Sites(self.root, self._define_location)
        self._files: dict[str, None] = {}
        self._sources = Sources(self.folder, self._note_sources)
        os.register_at_fork(after_in_child=self._forked)

    # -- definitions -------------------------------------------------------------------------------

    def string(self, text: str) -> int:
        """The id of an interned string; 0 for ''."""
        if not text:
            return 0
        known = self._strings.get(text)
        if known is None:
            with self._lock:
                known = self._strings.get(text)
                if known is None:
                    known = len(self._strings) + 1
                    self.writer.append(["S", known, text])
                    self._strings[text] = known
        return known

    def _define_location(self, site: str, via: Optional[str], file: str, line: int, function: str) -> int:
        with self._lock:
            number = self._number("L")
            texts = [self.string(site), self.string(via or ""), self.string(file)]
            self.writer.append(["L", number, *texts, line, self.string(function)])
            if self.sites.is_user(file):
                self._files[file] = None
                if self.folder:
                    self._sources.keep(file)
        return number

    def _note_sources(self, notes: dict[str, str]) -> None:
        """Write only what is new: a program may have thousands of files."""
        self._facts.setdefault("source_notes", {}).update(notes)
        self.writer.append(["I", clock() - self.mono, {"source_notes": notes}])

    def key(self, identity: Hashable, kind: KindName, fields: KeyFields, counted: bool = True) -> int:
        """The id of what `identity` stands for, defined by `fields` when it is new."""
        known = self._keys.get(identity)
        if known is None:
            with self._lock:
                known = self._keys.get(identity)
                if known is None:
                    known = self._number("K")
                    if known >= len(self.counts):
                        self.writer.grow_counts(2 * len(self.counts))
                        self.counts = self.writer.counts
                    self.writer.append(["K", known, kind, fields])
                    if counted:
                        self._places[known] = len(self._counted)
                        self._counted.append((known, kind))
                        self._written_counts.append(0)
                    if counted or kind in _ONLY_COUNTED:
                        self.hooked.append(known)
                    self._keys[identity] = known
            self.windows.new()
        return known

    @property
    def kept_counts(self) -> memoryview:
        """The counters that are written: `counts` may be others that nobody reads."""
        return self.writer.counts

    def also_known(self, identity: Hashable, key: int) -> None:
        """Let `known_key` find a key by another identity as well."""
        self._keys[identity] = key

    def uncount(self, key: int) -> None:
        """Leave a key's count to its own events: ticks write none for it."""
        with self._lock:
            place = self._places.pop(key, None)
            if place is not None:
                self._counted[place] = 0, self._counted[place][1]
                self.hooked.remove(key)

    def known_key(self, identity: Hashable) -> Optional[int]:
        """The id of `identity` if it was defined before."""
        return self._keys.get(identity)

    def graph(
        self,
        *,
        name: str,
        function: str,
        loc: int,
        step_marks: int = 0,
        partial: Optional[str] = None,
        number: Optional[int] = None,
    ) -> int:
        """Define a placed graph, or define the one with this number anew; its nodes and edges follow."""
        fields = {
            "name": name,
            "function": function,
            "loc": loc,
            "step_marks": step_marks,
            "partial": partial,
        }
        with self._lock:
            number = self._number("G") if number is None else number
            self.writer.append(["G", number, fields])
        return number

    def node(self, node: Node) -> None:
        """Write an op of a placed graph."""
        texts = [self.string(text) for text in (node.name, node.op, node.requested, node.assigned)]
        self.writer.append(["N", node.graph, node.node, *texts, node.loc, node.forward_loc])

    def edge(self, edge: Edge) -> None:
        """Write what one op of a placed graph hands to another."""
        ends = edge.src_node, edge.src_slot, edge.dst_node, edge.dst_slot
        texts = self.string(edge.dtype), self.string(edge.shape)
        self.writer.append(["E", edge.graph, *ends, edge.bytes, *texts])

    def _number(self, tag: str) -> int:
        number = self._next[tag]
        self._next[tag] = number + 1
        return number

    # -- what happens ------------------------------------------------------------------------------

    def happened(
        self, key: int, kind: KindName, dur: int = 0, value: Optional[int] = None, times: int = 1
    ) -> None:
        """Count an execution of a key; among its first ones, write it as an event too."""
        if self.windows.uncounted and self.windows.unexpected(key):
            self.windows.new()
        counts = self.counts
        count = counts[key] + times
        counts[key] = count
        if count <= SINGLE_EVENTS:
            self.windows.watch(key)
            self.event(kind, clock() - dur, dur, key, times, value)

    def event(
        self, kind: KindName, start: int, dur: int, key: int, count: int = 1, value: Optional[int] = None
    ) -> None:
        """Write one event; `start` is of the monotonic clock."""
        step = "null" if self.step is None else self.step
        shown = "null" if value is None else value
        line = (
            f'["e","{kind}",{start - self.mono},{dur},{key},{count},{step},{shown},{threading.get_ident()}]\n'
        )
        self.writer.append_bytes(line.encode("ascii"))

    def past_event(
        self, kind: KindName, start: int, dur: int, key: int, step: Optional[int], thread: int
    ) -> None:
        """Write one event that became known later: of another step, and of another thread, than now."""
        record = ["e", kind, start - self.mono, dur, key, 1, step, None, thread]
        self.writer.append(record)

    def stepped(self, times: int = 1, loc: int = 0, by: int = 0) -> None:
        """An optimizer was applied, at `loc` if the line is known: later events belong to the next step.

        Lines are counted apart, and so is what `by` tells apart at one line: two optimizers that take
        turns make one step together.
        """
        key = self.step_key(loc, by)
        self.kept_counts[key] += times
        self.step = (self.step or 0) + times
        self.event("mark", clock(), 0, key, times)
        self.passed(times)

    def step_key(self, loc: int, by: int = 0) -> int:
        """The key of the steps that an optimizer ends at a line."""
        key = self._keys.get(("step", loc, by))
        if key is None:
            fields = MarkFields(name="step", loc=loc) if loc else MarkFields(name="step")
            key = self.key(("step", loc, by), "mark", fields, counted=False)
        return key

    def passed(self, times: int) -> None:
        """So many steps are over, or what stands for a step where no optimizer is applied."""
        if self.windows.stepped(times):
            for hook in self.after_window:
                with self._ticker_guard:
                    hook()

    def fact(self, facts: LaterFacts) -> None:
        """Something about the process that became known now."""
        self._facts.update(facts)
        self.writer.append(["I", clock() - self.mono, facts])

    def unseen(self, what: str, why: str, count: int = 1) -> None:
        """Count something that could not be seen; written at the next tick."""
        with self._lock:
            self.unseen_counts[(what, why)] = self.unseen_counts.get((what, why), 0) + count

    def guard(self, what: str) -> Guard:
        """For ``with`` around what the recorder does inside the program's calls: its errors end there."""
        return Guard(self.unseen, what)

    def failed(self, what: str, error: Exception) -> None:
        """Count an error of the recorder's own, where a guard would cost too much."""
        failed(self.unseen, what, error)

    # -- ticks, end, fork --------------------------------------------------------------------------

    def start_ticking(self) -> None:
        """Begin to write the counts' increases four times a second, from a thread of its own."""
        if self._ticking is None:
            self._ticking = Ticking(self.tick, self._ticker_guard)

    def _stop_ticking(self, wait: bool = False) -> None:
        ticking, self._ticking = self._ticking, None
        if ticking is not None:
            ticking.stop()
            if wait:
                ticking.wait()

    def tick(self) -> None:
        """Write what was only counted since the last tick."""
        for ticker in self.tickers:
            with self._ticker_guard:
                ticker()
        now, counts = clock(), self.kept_counts
        self.windows.look()
        self._take_unrecorded(now)
        for index in range(len(self._counted)):
            key, kind = self._counted[index]
            count = counts[key]
            before = self._written_counts[index]
            if count > max(before, SINGLE_EVENTS):
                self.event(kind, now, 0, key, count - max(before, SINGLE_EVENTS))
                self._written_counts[index] = count
        with self._lock:
            unseen, self.unseen_counts = self.unseen_counts, {}
        for (what, why), count in unseen.items():
            self.writer.append(["U", what, count, why])
        self.writer.keep_counts()

    def _take_unrecorded(self, now: int) -> None:
        """Write what the steps between windows come to."""
        steps, added = self.windows.take_unrecorded(self.ending)
        if steps:
            self.unseen(BETWEEN_WINDOWS, WHY_BETWEEN_WINDOWS, steps)
        for key, more in added:
            place = self._places.get(key)
            if place is None:
                continue
            recorded = self.kept_counts[key] - more
            self.event(self._counted[place][1], now, 0, key, more, SAMPLED)
            # Up to so many were events of their own, or the last tick wrote them.
            written = min(recorded, max(self._written_counts[place], SINGLE_EVENTS))
            self._written_counts[place] = written + more

    def end(self) -> None:
        """The process ends: write what is left and say goodbye."""
        if self._ended or os.getpid() != self.pid:
            return
        with contextlib.suppress(
            Exception
        ):  # where no memory is left, nothing of that is the program's concern
            self._say_goodbye()
        with contextlib.suppress(Exception):  # nor is this
            self.writer.close()

    def _say_goodbye(self) -> None:
        self._ended = True
        self._stop_ticking()
        self.ending = True
        if not self.writer.idle or self.unseen_counts:
            self.tick()
            self.fact({"ended": True})

    def open(self, folder: str) -> None:
        """Begin another trace, in another run's folder, with all that was defined; OSError as at first.

        Only after `close`, or where there was no trace yet.
        """
        with self._lock:
            definitions = self.writer.definitions()
            self.folder = folder
            self.process = "block" if definitions else "main"
            self.mono = clock()
            try:
                writer = self._open(definitions)
            except OSError:
                self.folder = ""
                raise
            self.step = None
            self.ending = self._ended = False
            self.unseen_counts = {}
            self._written_counts = [0] * len(self._written_counts)
            self._sources = Sources(folder, self._note_sources)
            self._facts.pop("ended", None)
            self._facts.pop("source_notes", None)
            self._use(writer)
            self.fact({**self._facts})
            for file in self._files:
                self._sources.keep(file)
        self.start_ticking()

    def close(self) -> None:
        """End this trace as the end of the process would, and keep nothing until the next `open`."""
        if not self.folder or self._ended or os.getpid() != self.pid:
            return
        self._stop_ticking(wait=True)
        with self._lock:
            self._say_goodbye()
            definitions = self.writer.definitions()
            self.writer.close()
            self.ending = False
            self.folder = ""
            self._use(IdleWriter(definitions, len(self.counts)))

    def _open(self, definitions: Sequence[bytes] = ()) -> TraceWriter:
        """Make a trace with these definitions and counters for all keys; OSError where that fails."""
        facts = header(self.folder, self.pid, self.process, self.framework, self.root, self.mono)
        writer = TraceWriter(self.folder, trace_names(self.pid, self.framework), facts)
        if len(self.counts) > len(writer.counts):
            writer.grow_counts(len(self.counts))
        for line in definitions:
            writer.append_bytes(line)
        return writer

    def _forked(self) -> None:
        """In a forked child: a trace of its own once there is something to record."""
        parent = self.writer.written()
        self.pid = os.getpid()
        self._lock = threading.RLock()
        self.windows.reset()
        self._ticking = None  # its thread is the parent's
        if isinstance(self.writer, IdleWriter):
            return
        self.process = "fork"
        self._ended = False
        self.unseen_counts = {}
        self._written_counts = [0] * len(self._written_counts)
        self._use(DeferredWriter(len(self.counts), parent, lambda: self._begin_fork(parent)))

    def _begin_fork(self, parent: Written) -> TraceWriter:
        """Begin a forked child's trace with the definitions that its parent had made, and what it counted."""
        with self._lock:
            deferred = self.writer
            if not isinstance(deferred, DeferredWriter):
                return deferred  # another thread was first
            try:
                writer = self._open(parent.definitions())
            except OSError as error:
                note(self.folder, "a forked process", str(error.strerror or error))
                writer = NoWriter(len(self.counts))
            writer.counts[1 : len(deferred.counts)] = deferred.counts[1:]
            self._use(writer)
            self.fact({**self._facts})
        if not writer.idle:
            self.start_ticking()
        return writer

    def _use(self, writer: TraceWriter) -> None:
        self.writer, self.counts = writer, writer.counts
        self.windows.reset()
        for hook in self.on_open:
            hook()
