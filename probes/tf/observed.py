"""Counts, exactly, how often a tensor crossed inside loops and branches of a graph.

The runtime tells in its verbose log: ``sendrecv_ops`` logs every send (a loop's body sends once more,
dead, when the loop ends), and ``executor`` logs every op with whether it ran dead, which is slower but
decides branches and nested loops too. The log is switched on for calls of the graphs that need it and
off again, through Abseil's exported functions (about 6 us the pair); while it is on, standard error goes
to a file beside the trace, and what is not this log is passed on. TensorFlow builds without those
functions (2.18 and 2.15 have none, 2.21 has) give no counts: they stay unknown and the report says so.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import Any, NamedTuple, Optional

from ..trace.recording import LOST, Recording, clock
from ..trace.redirected import Redirected
from ..trace.stderr_rest import ENDING, own_output
from .sampled import WHAT
from .verbose import VerboseLog

EXACT = "HOPSCOPE_EXACT"
"""Set to 1 to have these executions counted exactly, whatever that costs."""

_PARSE_AT = 8 << 20
_SEND = re.compile(rb"sendrecv_ops\.cc:\d+\] Send ([^;\n]+);[0-9a-f]+;([^;\n]+);([^;\n]+);(-?\d+):(\d+)")
_NODE = re.compile(
    rb"executor\.cc:\d+\] Process node: \d+ step -?\d+ \{\{node ([^}\n]+)\}\} = _(?:Host)?Send\["
)


class _Call(NamedTuple):
    start: int
    mode: str


class _Segment(NamedTuple):
    start: int
    end: int
    graph: Any
    mode: str
    clean: bool
    at: int
    step: Optional[int]


class Observed:
    """The verbose log as a measuring instrument."""

    @classmethod
    def wanted(cls, recording: Recording) -> Optional[Observed]:
        """One where it was asked for; None where it was not, and where this build has no such log."""
        if os.environ.get(EXACT) != "1":
            return None
        log = VerboseLog.find()
        if log is None:
            why = "this TensorFlow build has no switch for the log that counts them: they are sampled"
            recording.unseen(f"exact {WHAT}", why)
            return None
        return cls(recording, log)

    def __init__(self, recording: Recording, log: VerboseLog) -> None:
        self.recording = recording
        self._lock = threading.RLock()
        self._log = log
        self._active: list[_Call] = []
        self._overlapped = False
        self._segments: list[_Segment] = []
        self._error: Optional[Redirected] = None
        self._gone = False
        """The descriptors are not ours any more: nothing is counted from then on."""
        self._seen: set[int] = set()
        self._lost: set[int] = set()
        recording.tickers.append(self.parse)
        recording.on_open.append(self._seen.clear)
        recording.on_open.append(self._lost.clear)

    def begin(self, graph: Any) -> Optional[_Call]:
        """A call starts of a graph that has hops to observe."""
        return self._begin("executor" if graph.exact else "sendrecv_ops")

    def begin_unknown(self, note: Any) -> Optional[_Call]:
        """A first call starts of a function with loops or branches; whether they hop is known after it."""
        return self._begin("executor") if note.control_flow else None

    def _begin(self, mode: str) -> Optional[_Call]:
        with self._lock:
            error = self._file()
            if error is None or not error.usable():
                return None
            if self._active:
                self._overlapped = True
                mode = "executor"
            else:
                self._overlapped = False
                if not error.begin():
                    return None
            self._log.switch(mode)
            call = _Call(error.size(), mode)
            self._active.append(call)
            return call

    def end(self, call: Optional[_Call], graph: Any) -> None:
        """A call has ended that `begin` was asked for; `graph` is what it ran, if that is known."""
        with self._lock:
            error = self._error
            if call is not None:
                self._active.remove(call)
                if not self._active:
                    self._log.switch("")
                    if error is not None:
                        error.end()
            if call is None or error is None or not error.usable():
                self._missed(graph)
                return
            clean, size = not self._overlapped, error.size()
            self._segments.append(
                _Segment(call.start, size, graph, call.mode, clean, clock(), self.recording.step)
            )
            if size > _PARSE_AT and not self._active:
                self.parse()

    def _file(self) -> Optional[Redirected]:
        if self._error is None and self.recording.folder and not self._gone:
            try:
                self._error = Redirected(os.path.join(self.recording.folder, f"{os.getpid()}{ENDING}"))
            except OSError as error:
                self._gone = True
                self.recording.unseen(WHAT, f"standard error can't be read: {error}")
        return self._error

    def _missed(self, graph: Any) -> None:
        """A call was not counted: of its hops no count is known."""
        if graph is None or not graph.observe or not self.recording.folder:
            return
        if not self._gone:
            self._gone = True
            self.recording.unseen(WHAT, "the program closed or exchanged the recorder's descriptors")
        for watched in graph.observe.values():
            if watched.key not in self._lost:
                self._lost.add(watched.key)
                self.recording.event("hop", clock(), 0, watched.key, 0, LOST)

    # -- reading -----------------------------------------------------------------------------------

    def parse(self) -> None:
        """Count what the finished calls logged, and pass on what is not the log's."""
        with self._lock:
            error = self._error
            if error is None or (self._active and not self.recording.ending):
                return
            segments, self._segments = self._segments, []
            if not error.usable():
                for segment in segments:
                    self._missed(segment.graph)
                return
            size = error.size()
            data = error.read(0, size) if size else b""
            for segment in segments:
                self._count(segment, data[segment.start : segment.end])
            error.write(own_output(data, self._log.quiet))
            if size:
                error.empty()
            if self.recording.ending:
                error.end()
                # Of several blocks that are recorded the first leaves none, and the open file does.
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(error.path)

    def _count(self, segment: _Segment, data: bytes) -> None:
        graph = segment.graph
        if graph is None or not graph.observe:
            return
        if segment.mode == "executor":
            counts = _live_nodes(data)
            found = {w.key: counts.get(w.send_node, 0) for w in graph.observe.values()}
        else:
            sends, frames = _sends(data)
            found = {
                w.key: max(0, sends.get(pair, 0) - (len(frames.get(pair, ())) if w.in_body else 0))
                for pair, w in graph.observe.items()
            }
        for key, count in found.items():
            lost = None if segment.clean else LOST
            if count or lost or key not in self._seen:
                self._seen.add(key)
                self.recording.kept_counts[key] += count
                before, self.recording.step = self.recording.step, segment.step
                self.recording.event("hop", segment.at, 0, key, count, lost)
                self.recording.step = before


def _live_nodes(data: bytes) -> dict[str, int]:
    counts: dict[str, int] = {}
    for line in data.splitlines():
        match = _NODE.search(line)
        if match is not None and b" is dead device: " not in line:
            name = match.group(1).decode()
            counts[name] = counts.get(name, 0) + 1
    return counts


Pair = tuple[str, str, str]


def _sends(data: bytes) -> tuple[dict[Pair, int], dict[Pair, set[bytes]]]:
    counts: dict[Pair, int] = {}
    frames: dict[Pair, set[bytes]] = {}
    for sender, receiver, tensor, frame, _ in _SEND.findall(data):
        pair = (sender.decode(), receiver.decode(), tensor.decode())
        counts[pair] = counts.get(pair, 0) + 1
        frames.setdefault(pair, set()).add(frame)
    return counts, frames
