"""The runtime's own activity events (TraceMe), read straight from its recorder for some milliseconds.

`ProfilerSession` reads the same events, but it writes lines into the program's standard error, attaches
CUPTI to a GPU, and its levels can't be set (TensorFlow 2.21). The recorder below it (traceme_recorder.h) does
none of that: it is a switch, and a vector of events for each thread. Its layout is no promise, so it is tried
once on events of our own, read by way of /proc/self/mem, where a wrong address is an error and no crash.
Where anything differs no events are read, and what they would have given is unknown.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Callable, NamedTuple, Optional

VERBOSE = 3
"""The level at which each op is recorded that runs, cheap ones too; dead ones are not, but for transfers."""
_PREFIX = "_ZN3tsl8profiler15TraceMeRecorder"
_THREAD_BYTES, _EVENT_BYTES, _BLOCK_BYTES = 120, 48, 480
_THREAD = struct.Struct("<I36x10Q")  # ThreadInfo {uint32 tid, string name}, deque<Event>
_FIRST, _LAST = 6, 10
"""Where the places of a deque's first and last block stand in it."""
_EVENT = struct.Struct("<QQQQqq")  # Event {string name, int64 start_time, int64 end_time}
_OFF = -1
MARK = b"hopscope"
_TRIED = ["hopscope", "hopscope tries the layout of the runtime's events"]
"""Names of both kinds: within the string's own 15 bytes, and elsewhere."""

Event = tuple[bytes, int, int]
"""(name, start, end), of the wall clock in nanoseconds; a thread's are in the order of their ends."""


class ThreadEvents(NamedTuple):
    """What one thread did."""

    number: int
    """Of the thread, as the runtime numbers it."""
    events: list[Event]


class Ops(NamedTuple):
    """What ran in the call that a window was open for."""

    counts: Optional[Mapping[bytes, int]]
    """Executions by the name of the op in the placed graph; None where they can't be told."""
    times: list[tuple[bytes, int, int]]
    """(name, start of the monotonic clock, duration), where they were to be timed."""
    whole: bool
    """All of it was recorded in one piece: the counts are exact."""
    cost_ns: int


class Recorded(ctypes.Structure):
    """A vector of the runtime's: where its first element is, where its last one ends, and its room."""

    _fields_ = (("first", ctypes.c_size_t), ("last", ctypes.c_size_t), ("room", ctypes.c_size_t))


class RuntimeEvents:
    """The switch of the runtime's event recorder, and what it recorded."""

    def __init__(self, library: Any) -> None:
        """Find its parts; AttributeError or ValueError where the library exports another recorder."""
        self._switch(library)
        self._level = ctypes.c_int.in_dll(library, "_ZN3tsl8profiler8internal13g_trace_levelE")
        self._started.restype, self._stopped.restype = ctypes.c_bool, Recorded
        self._destroy = library[f"{_PREFIX}12ThreadEventsD2Ev"]
        self._destroy.argtypes, self._destroy.restype = [ctypes.c_void_p], None
        from tensorflow.python.profiler.internal import _pywrap_traceme

        self._mark = _pywrap_traceme.TraceMe
        self._free = library["_ZdlPv"]
        self._free.argtypes, self._free.restype = [ctypes.c_void_p], None

    def _switch(self, library: Any) -> None:
        """Both halves of the switch: functions today, methods of one object up to TensorFlow 2.15."""
        self._owner: tuple[ctypes.c_void_p, ...] = ()
        if hasattr(library, f"{_PREFIX}5StartEi"):
            self._started, self._stopped = library[f"{_PREFIX}5StartEi"], library[f"{_PREFIX}4StopEv"]
            return
        owner = library[f"{_PREFIX}3GetEv"]
        owner.argtypes, owner.restype = [], ctypes.c_void_p
        self._owner = (ctypes.c_void_p(owner()),)
        self._started = library[f"{_PREFIX}14StartRecordingEi"]
        self._stopped = library[f"{_PREFIX}13StopRecordingEv"]

    @classmethod
    def find(cls) -> Optional[RuntimeEvents]:
        """The recorder of the library that this process has loaded; None where its events can't be read."""
        library = _library()
        if library is None or struct.calcsize("P") != 8 or sys.byteorder != "little":
            return None
        try:
            found = cls(library)
            return found if found._readable() else None
        except (AttributeError, OSError, ImportError, ValueError, struct.error):
            return None

    def start(self) -> bool:
        """Record from now on; False where somebody else does."""
        return bool(self._started(*self._owner, VERBOSE))

    def stop(self) -> Recorded:
        """End it, and hand out what was recorded, for `read`."""
        recorded: Recorded = self._stopped(*self._owner)
        return recorded

    def count(self, recorded: Recorded) -> int:
        """How many events that are, without reading them; blocks that are not full count as full."""
        places = range(recorded.first, recorded.last, _THREAD_BYTES)
        parts = (_THREAD.unpack(ctypes.string_at(place, _THREAD_BYTES)) for place in places)
        return sum((part[_LAST] - part[_FIRST] + 8) // 8 * _BLOCK_BYTES // _EVENT_BYTES for part in parts)

    def read(self, recorded: Recorded) -> Iterator[ThreadEvents]:
        """What was recorded, by threads; frees it at the end."""
        try:
            yield from _read(recorded, ctypes.string_at)
        finally:
            self.free(recorded)

    def free(self, recorded: Recorded) -> None:
        """Forget what was recorded."""
        for place in range(recorded.first, recorded.last, _THREAD_BYTES):
            self._destroy(place)
        self._free(recorded.first)

    def off(self) -> None:
        """Switch it off in a forked child, where locks may be held for ever by threads that it has not."""
        self._level.value = _OFF

    def mark(self) -> None:
        """Leave an event of this thread, by which it is found again: `MARK`."""
        self._mark(MARK.decode()).Stop()

    def _readable(self) -> bool:
        """Whether events of our own come back as they were made; without touching what can't be read."""
        if not self.start():
            return False
        for name in _TRIED:
            self._mark(name).Stop()
        recorded = self.stop()
        if (recorded.last - recorded.first) % _THREAD_BYTES or recorded.last <= recorded.first:
            return False
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            threads = list(_read(recorded, lambda place, size: os.pread(memory.fileno(), size, place)))
        if not any([name.decode(errors="replace") for name, _, _ in row.events] == _TRIED for row in threads):
            return False
        self.free(recorded)
        return True


def _read(recorded: Recorded, read: Callable[[int, int], bytes]) -> Iterator[ThreadEvents]:
    for place in range(recorded.first, recorded.last, _THREAD_BYTES):
        number, _, _, first, _, _, first_block, last, _, _, last_block = _THREAD.unpack(
            read(place, _THREAD_BYTES)
        )
        size = last_block - first_block + 8
        if size % 8 or not 0 < size < 1 << 24:
            raise ValueError(size)
        blocks = struct.unpack(f"<{size // 8}Q", read(first_block, size))
        events: list[Event] = []
        for block in blocks:
            begin = first if block == blocks[0] else block
            end = last if block == blocks[-1] else block + _BLOCK_BYTES
            events += [
                (read(name, length), start, stop)
                for name, length, _, _, start, stop in _EVENT.iter_unpack(read(begin, end - begin))
            ]
        yield ThreadEvents(number, events)


def _library() -> Optional[ctypes.CDLL]:
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libtensorflow_framework" in line}
        return ctypes.CDLL(paths.pop()) if paths else None
    except OSError:
        return None
