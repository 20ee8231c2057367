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

from ..trace.recording import Recording, clock
from ..trace.stderr_rest import ENDING, own_output
from .verbose import VerboseLog

LOST = 1
"""An event's value that says: not every execution of this key could be observed."""
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

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._lock = threading.RLock()
        self._log: Optional[VerboseLog] = None
        self._tried = False
        self._active: list[_Call] = []
        self._overlapped = False
        self._segments: list[_Segment] = []
        self._file = -1
        self._path = ""
        self._saved = -1
        self._read = 0
        self._seen: set[int] = set()
        recording.tickers.append(self.parse)
        recording.on_open.append(self._seen.clear)

    def begin(self, graph: Any) -> Optional[_Call]:
        """A call starts of a graph that has hops to observe."""
        return self._begin("executor" if graph.exact else "sendrecv_ops")

    def begin_unknown(self, note: Any) -> Optional[_Call]:
        """A first call starts of a function with loops or branches; whether they hop is known after it."""
        return self._begin("executor") if note.control_flow else None

    def _begin(self, mode: str) -> Optional[_Call]:
        with self._lock:
            log = self._available()
            if log is None:
                return None
            if self._active:
                self._overlapped = True
                mode = "executor"
            if not self._active:
                self._overlapped = False
                os.dup2(self._file, 2)
            log.switch(mode)
            call = _Call(os.fstat(self._file).st_size, mode)
            self._active.append(call)
            return call

    def end(self, call: _Call, graph: Any) -> None:
        """That call has ended; `graph` is what it ran, if that is known."""
        with self._lock:
            log = self._log
            assert log is not None
            self._active.remove(call)
            clean = not self._overlapped
            size = os.fstat(self._file).st_size
            if not self._active:
                log.switch("")
                os.dup2(self._saved, 2)
            self._segments.append(
                _Segment(call.start, size, graph, call.mode, clean, clock(), self.recording.step)
            )
            if size - self._read > _PARSE_AT and not self._active:
                self.parse()

    def _available(self) -> Optional[VerboseLog]:
        if not self._tried:
            if not self.recording.folder:
                return None
            self._tried = True
            self._log = VerboseLog.find()
            if self._log is None:
                why = "this TensorFlow build has no switch for the log that tells"
                self.recording.unseen("executions of hops inside loops and branches", why)
                return None
            self._path = os.path.join(self.recording.folder, f"{os.getpid()}{ENDING}")
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o644)
            self._saved = os.dup(2)
            os.set_inheritable(self._saved, False)
        return self._log

    # -- reading -----------------------------------------------------------------------------------

    def parse(self) -> None:
        """Count what the finished calls logged, and pass on what is not the log's."""
        with self._lock:
            if self._file < 0 or (self._active and not self.recording.ending):
                return
            segments, self._segments = self._segments, []
            size = os.fstat(self._file).st_size
            if size == self._read:
                for segment in segments:
                    self._count(segment, b"")
                return
            data = os.pread(self._file, size - self._read, self._read)
            for segment in segments:
                self._count(segment, data[segment.start - self._read : segment.end - self._read])
            self._pass_on(data)
            self._read = 0
            os.ftruncate(self._file, 0)
            if self.recording.ending:
                os.dup2(self._saved, 2)
                # Of several blocks that are recorded the first leaves none, and the open file does.
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._path)

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
                self.recording.counts[key] += count
                before, self.recording.step = self.recording.step, segment.step
                self.recording.event("hop", segment.at, 0, key, count, lost)
                self.recording.step = before

    def _pass_on(self, data: bytes) -> None:
        kept = own_output(data, self._log.quiet if self._log else b"")
        if kept:
            os.write(self._saved, kept)


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
