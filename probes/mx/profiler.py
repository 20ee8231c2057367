"""Runs MXNet's own profiler and reads what it writes, while it writes it.

The profiler ends the process when a CPU context turns up that it keeps no room for, so it is stopped
before that; it is stopped as well when the program begins to use it itself, and while the disk still has
room. Its file is read as it grows, and what was read is given back to the disk.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import time
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.hop import HOST
from ..trace.recording import Recording

DUMP_S = 0.5
_LEAST_FREE = 256 << 20
"""Bytes that the disk must have left: on a full one the profiler ends the process."""
_PUNCH = 3
"""FALLOC_FL_PUNCH_HOLE and FALLOC_FL_KEEP_SIZE of fallocate(2)."""
_HASH_SEED = 0xC70F6907
"""Of C++'s std::hash, which the profiler writes threads' ids with."""
_NAME = rb'"name": "(?P<%s>[^"\n]*)",\s*"cat": "[^"\n]*",\s*"ph": "%s",\s*"ts": (?P<%s>\d+),\s*'
_RECORD = re.compile(
    rb'"ph": "M",\s*"args": \{\s*"name": "(?P<device>[cg]pu[^"\n]*)"\s*\},\s*"pid": (?P<number>\d+),'
    rb"|"
    + _NAME % (b"op", b"B", b"start")
    + rb'"pid": (?P<pid>\d+),\s*"tid": (?P<tid>\d+)\s*\}[\s,]*\{\s*'
    + _NAME % (b"same", b"E", b"end")
    + rb"|"
    + _NAME % (b"counter", b"C", b"at")
    + rb'"args": \{ "[^"\n]*": (?P<value>\d+) \}'
)
_BOOKKEEPING = frozenset({b"DeleteVariable", b"WaitForVar", b"SetupExec", b"ResourceParallelRandomSetSeed"})
"""What the engine does for itself; for a custom op it stands behind its name and two colons."""
_MEMORY = b"Memory: "
_CONFIGURE, _DUMP = "MXSetProcessProfilerConfig", "MXDumpProcessProfile"


class Ran(NamedTuple):
    """One operation that the engine ran: where, when (ns since the epoch), and in which thread."""

    name: str
    device: str
    start: int
    dur: int
    thread: int


class Profiler:
    """MXNet's profiler, from when MXNet was imported until the process ends or it has to stop."""

    def __init__(self, recording: Recording, contexts: int) -> None:
        """`contexts` is how many CPU contexts it has room for."""
        self._recording = recording
        self._guard = recording.guard("MXNet's own profiler")
        self._contexts = contexts
        self._path = recording.writer.path.rpartition(".")[0] + ".profile.json"
        self._pid = os.getpid()
        self._read_to = 0
        self._kept = 0
        self._devices: dict[bytes, str] = {}
        self._heads: dict[bytes, str] = {}
        """As the profiler names the devices."""
        self._programs_own = _file_name(0, (), ())
        self._names: dict[bytes, str] = {}
        self._counters: dict[bytes, int] = {}
        self.memory: dict[str, list[int]] = {}
        """[bytes in use, most bytes ever in use] by device."""
        self.running = False
        self._over_at = 0.0
        self.why = ""
        """Why it does not run any more."""

    def start(self) -> None:
        """Start it, and watch for what it can't live with."""
        from mxnet import profiler
        from mxnet.base import _LIB

        if os.environ.get("MXNET_PROFILER_AUTOSTART", "0") not in ("", "0"):
            self.why = "MXNET_PROFILER_AUTOSTART runs the profiler for the program"
            return
        lib: Any = _LIB
        self._set_state: Callable[..., int] = lib.MXSetProcessProfilerState
        self._dump: Callable[..., int] = lib.MXDumpProcessProfile
        self._pause: Callable[..., int] = lib.MXProcessProfilePause
        self._store = profiler.profiler_kvstore_handle
        profiler.set_config(
            filename=self._path,
            profile_imperative=True,
            profile_symbolic=True,
            profile_memory=True,
            profile_api=False,
            aggregate_stats=False,
            continuous_dump=True,
            dump_period=DUMP_S,
        )
        profiler.set_state("run")
        self.running = True
        os.register_at_fork(after_in_child=self._forked)
        self._watch_contexts()
        for name in (_CONFIGURE, "MXSetProcessProfilerState", _DUMP, "MXProcessProfilePause"):
            self._watch_use(lib, name)

    def _watch_contexts(self) -> None:
        from mxnet.context import Context

        owner: Any = Context
        init: Callable[..., None] = owner.__init__

        @stands_for(init)
        def __init__(context: Any, *args: Any, **kwargs: Any) -> None:
            with PASSING:
                init(context, *args, **kwargs)
            with self._guard:
                if self.running and context.device_typeid == 1 and context.device_id >= self._contexts:
                    why = f"MXNet's profiler has room for {self._contexts} CPU contexts, not for {context}"
                    self.stop(why)

        owner.__init__ = __init__

    def _watch_use(self, lib: Any, name: str) -> None:
        original: Callable[..., int] = getattr(lib, name)

        def used(*args: Any) -> int:
            with self._guard:
                self.stop("the program uses MXNet's profiler itself")
            status = original(*args)
            # MXNet refuses to be configured anew until its thread that wrote our file has gone.
            while status != 0 and time.monotonic() < self._over_at:
                time.sleep(DUMP_S / 10)
                status = original(*args)
            with self._guard:
                if name == _CONFIGURE:
                    self._programs_own = _file_name(*args[:3])
                elif name == _DUMP and self._over_at and os.path.exists(self._programs_own):
                    self._mend(self._programs_own)
            return status

        setattr(lib, name, used)

    def _mend(self, path: str) -> None:
        """Give the program's own file the head that MXNet writes only once in a process, into ours."""
        with open(path, "rb+") as file:
            text = file.read()
            if text.lstrip().startswith(b"{") or not text.rstrip().endswith(b"}"):
                return
            heads = [
                {"ph": "M", "args": {"name": name}, "pid": int(pid), "name": "process_name"}
                for pid, name in self._heads.items()
            ]
            head = json.dumps({"traceEvents": heads})
            file.seek(0)
            file.write(head.removesuffix("]}").encode() + text)

    def stop(self, why: str = "") -> None:
        """Stop it for good and finish its file; `why` is told where it stops before the process ends."""
        if not self.running or os.getpid() != self._pid:
            return
        self.running = False
        self.why = why
        self._set_state(ctypes.c_int(0), 0, self._store)
        self._dump(1, 0, self._store)
        self._over_at = time.monotonic() + 2 * DUMP_S

    def _forked(self) -> None:
        """In a forked child nothing may be waited for: the thread that holds a lock is not there."""
        if self.running:
            self._pause(1, 0, self._store)
            self.running = False
            self.why = "the process was forked from one that MXNet's profiler runs in"

    # -- what it wrote -----------------------------------------------------------------------------

    def read(self) -> list[Ran]:
        """What ran since the last call and has been written, in the order of its start."""
        found: list[Ran] = []
        counted: list[tuple[int, bytes, int]] = []
        if os.getpid() != self._pid:
            return found
        try:
            with open(self._path, "rb+") as file:
                file.seek(self._read_to)
                data = file.read()
                end = 0
                for record in _RECORD.finditer(data):
                    end = record.end()
                    if record["counter"] is not None:
                        counted.append((int(record["at"]), record["counter"], int(record["value"])))
                    elif record["device"] is not None:
                        self._devices[record["number"]] = _device_name(record["device"])
                        self._heads[record["number"]] = record["device"].decode()
                    elif record["pid"] in self._devices and not _bookkeeping(record["op"]):
                        found.append(self._ran(record))
                self._read_to += end
                if self.running and self._read_to - self._kept > 1 << 20:
                    self._give_back(file.fileno())
        except FileNotFoundError:
            return found
        if self.running and _free(self._path) < _LEAST_FREE:
            self.stop("the disk is nearly full, on which MXNet's profiler would end the process")
        for _, counter, value in sorted(counted):
            self._memory_is(counter, value)
        found.sort(key=lambda ran: ran.start)
        return found

    def remove(self) -> None:
        """Delete its file, once all of it was read."""
        if os.getpid() == self._pid and not self.running and os.path.exists(self._path):
            os.unlink(self._path)

    def _ran(self, record: re.Match[bytes]) -> Ran:
        name = self._names.get(record["op"])
        if name is None:
            name = self._names[record["op"]] = record["op"].decode("utf-8", "replace")
        start, end = int(record["start"]), int(record["end"])
        place = self._devices[record["pid"]]
        return Ran(name, place, start * 1000, (end - start) * 1000, int(record["tid"]))

    def _memory_is(self, counter: bytes, value: int) -> None:
        if not counter.startswith(_MEMORY):
            return
        device = _device_name(counter[len(_MEMORY) :])
        known = self.memory.setdefault(device, [0, 0])
        known[0] += value - self._counters.get(counter, 0)
        self._counters[counter] = value
        known[1] = max(known)

    def _give_back(self, file: int) -> None:
        """Free the part of the file that was read; where the file system can't, it stays until the end."""
        libc = ctypes.CDLL(None, use_errno=True)
        if hasattr(libc, "fallocate"):
            start, size = ctypes.c_long(0), ctypes.c_long(self._read_to)
            libc.fallocate(file, _PUNCH, start, size)
        self._kept = self._read_to


def _bookkeeping(op: bytes) -> bool:
    return op.rpartition(b"::")[2] in _BOOKKEEPING


def _file_name(count: int, names: Sequence[bytes], values: Sequence[bytes]) -> str:
    """The file that a configuration of the profiler names."""
    chosen = dict(zip(names[:count], values[:count]))
    return os.path.abspath(os.fsdecode(chosen.get(b"filename", b"profile.json")))


def _device_name(text: bytes) -> str:
    """``cpu:1`` for the profiler's ``cpu/1``; pinned and shared memory is the host's."""
    word, _, number = text.decode().partition("/")
    return f"{word}:{number}" if number else HOST


def _free(path: str) -> int:
    """Bytes that are free where a file lies."""
    found = os.statvfs(os.path.dirname(path))
    return found.f_bavail * found.f_frsize


def thread_hash(ident: int) -> Optional[int]:
    """How the profiler writes the id of a thread, given Python's; None where it can't be told."""
    try:
        hashed = ctypes.CDLL("libstdc++.so.6")["_ZSt11_Hash_bytesPKvmm"]
    except (OSError, AttributeError):
        return None
    hashed.restype = ctypes.c_size_t
    hashed.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
    value = ctypes.c_size_t(ident)
    return int(hashed(ctypes.byref(value), ctypes.sizeof(value), _HASH_SEED))


def wall() -> int:
    """Now, on the clock that the profiler writes: ns since the epoch."""
    return time.time_ns()
