"""The exact-line mode: which copies, and which ops of the backward pass, a line's call really made.

MXNet makes these by itself inside one call, and queues them: when they run, another line is long underway.
Its NaiveEngine runs everything at once, in the thread that asks for it, so what MXNet's profiler saw
while a call was underway is that call's doing. The calls are noted with their line; a copy that ran
in none of them is counted as unseen.
"""

from __future__ import annotations

import functools
import os
import re
import threading
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Optional

from ..trace.recording import SINGLE_EVENTS, Recording, clock
from ..trace.schema import CopiesFields, KeyFields, KindName, OpFields
from . import room
from .arrays import Arrays
from .profiler import Profiler, Ran, thread_hash, wall

ENGINE, NAIVE = "MXNET_ENGINE_TYPE", "NaiveEngine"
BACKWARD = "backward"
_SERIALISED = (
    f"{NAIVE} runs one operation at a time: lines are exact, times and overlap are not those of a normal run"
)
_EAGER = ""
"""Within an eager op: what it copies the recorder knows already."""
_CALLS = {
    "MXImperativeInvoke": _EAGER,
    "MXImperativeInvokeEx": _EAGER,
    "MXNetFuncCall": _EAGER,
    "MXNDArraySyncCopyFromNDArray": _EAGER,
    "MXAutogradBackwardEx": BACKWARD,
    "MXExecutorForward": "forward",
    "MXExecutorBackwardEx": "backward of a graph",
    "MXInvokeCachedOp": "hybridized block",
    "MXInvokeCachedOpEx": "hybridized block",
    "MXKVStoreInit": "kvstore init",
    "MXKVStoreInitEx": "kvstore init",
    "MXKVStorePush": "kvstore push",
    "MXKVStorePushEx": "kvstore push",
    "MXKVStorePull": "kvstore pull",
    "MXKVStorePullEx": "kvstore pull",
    "MXKVStorePullWithSparse": "kvstore pull",
    "MXKVStorePullWithSparseEx": "kvstore pull",
    "MXKVStorePullRowSparse": "kvstore row_sparse_pull",
    "MXKVStorePullRowSparseEx": "kvstore row_sparse_pull",
    "MXKVStorePushPull": "kvstore pushpull",
    "MXKVStorePushPullEx": "kvstore pushpull",
    "MXKVStoreBroadcast": "kvstore broadcast",
    "MXKVStoreBroadcastEx": "kvstore broadcast",
}
"""C function -> what is underway while it runs."""
_COPY = re.compile(r"(Copy|_copyto_)[CG]PU2[CG]PU")
_MOST_CALLS = 30_000
"""Calls that are remembered at least; MXNet writes what ran in one within a second."""


class _Call:
    """One call of MXNet that is or was underway."""

    __slots__ = ("end", "loc", "outer", "step", "thread", "within")

    def __init__(self, within: str, loc: int, step: Optional[int], outer: Optional[_Call]) -> None:
        self.within = within
        self.loc = loc
        self.step = step
        self.outer = outer
        self.thread = threading.get_ident()
        self.end: Optional[int] = None


class ExactLines:
    """The calls, and what ran in them."""

    def __init__(self, recording: Recording, arrays: Arrays, profiler: Profiler) -> None:
        """Nothing was called yet."""
        self._recording = recording
        self._devices = arrays.totals
        self._profiler = profiler
        self._pid = os.getpid()
        self._calls: list[tuple[int, _Call]] = []
        """By their start."""
        self._underway = threading.local()
        self._waiting: list[Ran] = []
        self._read_at = wall()
        self._threads: dict[int, Optional[int]] = {}
        self._stays: Counter[tuple[int, str, str]] = Counter()
        """Copies by (line, what was underway, device) that are known to stay on their device."""
        self._stayed: Counter[tuple[int, str, str]] = Counter()
        """How many of those were met so far."""

    @property
    def running(self) -> bool:
        """Whether what runs now will be known; it may end before the process does."""
        return self._profiler.running

    @property
    def memory(self) -> Mapping[str, Sequence[int]]:
        """(bytes in use, most bytes ever in use) by device; none any more once the profiler had to stop."""
        return {} if self._profiler.why else self._profiler.memory

    def follow(self, lib: Any) -> None:
        """Note every call of the functions that run ops and copies."""
        for name, within in _CALLS.items():
            original = getattr(lib, name, None)
            if original is not None:
                setattr(lib, name, self._noting(original, within))

    def _noting(self, original: Callable[..., int], within: str) -> Callable[..., int]:
        underway, recording, profiler = self._underway, self._recording, self._profiler
        calls, guard = self._calls, recording.guard("lines of MXNet's calls")

        @functools.wraps(original, assigned=(), updated=())
        def noted(*args: Any) -> int:
            if not profiler.running:
                if within:
                    recording.unseen("calls of MXNet whose copies are not counted", profiler.why)
                return original(*args)
            outer: Optional[_Call] = getattr(underway, "call", None)
            loc = 0
            with guard:
                loc = recording.sites.current() if within else 0
            call = underway.call = _Call(within, loc, recording.step, outer)
            calls.append((wall(), call))
            try:
                return original(*args)
            finally:
                call.end = wall()
                underway.call = outer

        return noted

    def stays(self, loc: int, within: str, device: str, times: int = 1) -> None:
        """Copies that a call at a line makes from an array of a device to another one there: no hops."""
        self._stays[(loc, within, device)] += times

    def tick(self) -> None:
        """Read what ran, and charge to its line what is old enough for all about it to be known."""
        if os.getpid() != self._pid:
            return
        now = wall()
        ending = self._recording.ending
        if ending:
            self._profiler.stop()
        ran = self._waiting + self._profiler.read()
        until = now if ending else self._read_at
        self._read_at = now
        self._waiting = [one for one in ran if one.start > until]
        for one in ran:
            if one.start <= until:
                self._charge(one)
        if ending:
            self._profiler.remove()
        elif len(self._calls) > 2 * _MOST_CALLS:
            del self._calls[:_MOST_CALLS]

    def _charge(self, ran: Ran) -> None:
        call = self._call_of(ran)
        copy = _COPY.fullmatch(ran.name) is not None
        if call is None:
            if copy and len(self._devices) > 1:  # with one device, as in a server, none has left it
                self._recording.unseen("copies by MXNet itself", "they ran in no call that is followed")
        elif copy and call.within:
            self._copied(call, ran)
        elif call.within == BACKWARD:
            fields = OpFields(
                op=ran.name, device=ran.device, requested="", loc=call.loc, forward_loc=0, basis="measured"
            )
            self._count("op", ("ran", call.loc, ran.device, ran.name), fields, call, ran)

    def _copied(self, call: _Call, ran: Ran) -> None:
        place = (call.loc, call.within, ran.device)
        fields = CopiesFields(
            device=ran.device, op=ran.name, within=call.within, loc=call.loc, basis="measured"
        )
        stays = self._stayed[place] < self._stays[place]
        if stays:
            self._stayed[place] += 1
            fields["stays"] = True
        self._count("copies", ("copies", *place, ran.name, stays), fields, call, ran)

    def _count(self, kind: KindName, identity: Any, fields: KeyFields, call: _Call, ran: Ran) -> None:
        recording = self._recording
        key = recording.key(identity, kind, fields)
        count = recording.counts[key] + 1
        recording.counts[key] = count
        if count <= SINGLE_EVENTS:
            start = ran.start - time.time_ns() + clock()
            recording.past_event(kind, start, ran.dur, key, call.step, call.thread)

    def _call_of(self, ran: Ran) -> Optional[_Call]:
        """The innermost call that was underway in the thread where something ran; None if there was none."""
        # The profiler cuts times to microseconds.
        index = bisect_right(self._calls, (ran.start + 1000,)) - 1
        while index >= 0 and not self._same_thread(self._calls[index][1], ran):
            index -= 1
        call = self._calls[index][1] if index >= 0 else None
        while call is not None and call.end is not None and call.end < ran.start:
            call = call.outer
        return call

    def _same_thread(self, call: _Call, ran: Ran) -> bool:
        known = self._threads.get(call.thread, -1)
        if known == -1:
            known = self._threads[call.thread] = thread_hash(call.thread)
        return known is None or known == ran.thread


def install(recording: Recording, arrays: Arrays) -> Optional[ExactLines]:
    """Say so where MXNet runs one operation at a time; where the mode was asked for, measure.

    To be called before anything else hooks the calls, so that what is noted is MXNet's part of them alone.
    """
    from mxnet.base import _LIB

    wanted = os.environ.get(room.EXACT_LINES) == "1"
    if os.environ.get(ENGINE) != NAIVE:
        if wanted:
            recording.unseen("exact lines", f"the program set {ENGINE} to another engine than {NAIVE}")
        return None
    recording.fact({"serialised": _SERIALISED})
    if not wanted:
        return None
    profiler = Profiler(recording, room.contexts())
    profiler.start()
    exact = ExactLines(recording, arrays, profiler)
    exact.follow(_LIB)
    recording.tickers.append(exact.tick)
    return exact
