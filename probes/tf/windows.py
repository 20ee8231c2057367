"""Short profiler windows: when ops inside a graph call really ran, joined to the placed graph.

One call every few seconds runs under TensorFlow's own profiler; its op events carry the op's name in
the graph. What it does not report (cheap ops, often) is not guessed.
"""

from __future__ import annotations

import contextlib
from typing import Any, Optional

from ..trace.recording import Recording, clock
from .functions import Functions
from .verbose import VerboseLog

EVERY_NS = 5_000_000_000
_LONG_NS = 200_000_000
"""Calls longer than this are not profiled: the profiler would hold all their events in memory."""
_MOST = 20_000


class Windows:
    """Takes a window when one is due."""

    def __init__(self, recording: Recording, functions: Functions) -> None:
        self.recording = recording
        self.functions = functions
        self._due: dict[str, int] = {}
        self._log: Optional[VerboseLog] = None
        self._looked = False
        self._known: dict[tuple[int, str], int] = {}

    def begin(self, name: str, last_dur: int) -> Optional[tuple[Any, int]]:
        """Start a profiler session before a call of `name`, if one is due and nobody else profiles."""
        now = clock()
        if now < self._due.get(name, 0) or last_dur > _LONG_NS or name not in self.functions.placed:
            return None
        self._due[name] = now + EVERY_NS
        log = self._quiet_log()
        if log is None:
            return None
        from tensorflow.python.profiler import profiler_v2
        from tensorflow.python.profiler.internal import _pywrap_profiler

        lock: Any = profiler_v2._profiler_lock
        if profiler_v2._profiler is not None or not lock.acquire(blocking=False):
            return None  # the user's own profile is running
        try:
            session: Any = _pywrap_profiler.ProfilerSession()
            with log.hushed():
                session.start("", {})
        except Exception as error:  # noqa: BLE001 - another profiler's error type differs by version
            lock.release()
            self.recording.unseen("a sampled window", f"the profiler is in use: {type(error).__name__}")
            return None
        return session, clock()

    def _quiet_log(self) -> Optional[VerboseLog]:
        """The log's switches; None where the profiler would do harm, or write into the program's output."""
        if not self._looked:
            self._looked = True
            log = VerboseLog.find()
            if _one_of_several():
                # Seen with TensorFlow 2.21: now and then the profiler's end aborts a worker, "double free or
                # corruption", whose network threads are still at work when the call has returned.
                why = "TensorFlow's profiler may abort one process of several"
                self.recording.unseen("when ops inside graph calls ran", why)
            elif log is not None and log.can_hush:
                self._log = log
            else:
                why = "this TensorFlow build's profiler would write into the program's output"
                self.recording.unseen("when ops inside graph calls ran", why)
        return self._log

    def end(self, window: tuple[Any, int], graph: Any) -> None:
        """Stop the session and write the ops of `graph` that it saw."""
        from tensorflow.python.profiler import profiler_v2

        session, start = window
        try:
            with self._log.hushed() if self._log else contextlib.nullcontext():
                data = session.stop()
        finally:
            lock: Any = profiler_v2._profiler_lock
            lock.release()
        if graph is None:
            return
        from tensorflow.tsl.profiler.protobuf import trace_events_pb2

        trace = trace_events_pb2.Trace()
        trace.ParseFromString(data)
        for event in trace.trace_events[:_MOST]:
            name = event.args.get("long_name") or event.name  # ``NODE:TYPE``; `name` alone is the type
            node = graph.nodes.get(name.rsplit(":", 1)[0])
            if node is not None:
                key = self._key(graph.id, node)
                self.recording.counts[key] += 1
                self.recording.event(
                    "node", start + event.timestamp_ps // 1000, max(1, event.duration_ps // 1000), key
                )

    def _key(self, graph: int, node: tuple[int, str]) -> int:
        identity = (graph, node[1])
        key = self._known.get(identity)
        if key is None:
            fields = {"graph": graph, "node": node[0], "device": node[1], "basis": "sampled"}
            key = self._known[identity] = self.recording.key(("node", graph, node[0]), "node", fields)
            self.recording.uncount(key)
        return key


def _one_of_several() -> bool:
    """Whether this process has become a member of a cluster."""
    from tensorflow.python.eager import context

    here = context.context_safe()
    names = ("_server_def", "_collective_ops_server_def")
    return here is not None and any(getattr(here, name, None) is not None for name in names)


def install(recording: Recording, functions: Functions) -> None:
    """Let function calls take windows."""
    functions.windows = Windows(recording, functions)
