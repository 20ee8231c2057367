"""The trace of one process on disk, version 1: what is written, and how it survives a kill.

Two files a process, both memory-mapped, so that a record is in the kernel's hands the moment it is
made: nothing waits in a buffer for a flush that a long call holding the interpreter, or a kill -9,
would prevent.

``NAME.jsonl``: one JSON array a line; the first item is its tag. The file is extended ahead of use,
so its tail is NUL bytes; a reader stops at the first NUL or at a line without its newline.

====  ==============================================================================================
tag   items after it
====  ==============================================================================================
H     version, facts of the process (see header.py)
I     ts, facts that became known later, merged over the header
S     id, text: an interned string
L     id, site, via, file, line, function: a source location (strings by id)
K     id, kind, fields: all that is constant over repeated events of one thing
G     id, fields: a placed function graph
N     graph, node, name, op, requested, assigned, location, forward location (strings by id)
E     graph, source node, slot, destination node, slot, bytes, dtype, shape (strings by id)
e     kind, ts, dur, key, count, step, value, thread: an event
U     what, count, why: something that could not be seen (add up over records)
====  ==============================================================================================

``NAME.counts``: little-endian 64-bit integers; the one at a key's id is that key's exact number of
executions so far.

Kinds of keys, with their fields beside ``loc``, the line (device names as in the whole project):

==========  ========================================================================================
op          op, device, requested, forward_loc, basis (inferred where it was not seen to run)
call        graph, function: one event a call of a placed graph, dur as Python saw it
hop         a transfer: see `hop_fields` in hop.py; copied_from (device) and copy_loc, the line, where
            what is copied is, unchanged, what another copy brought; pulled_loc where it was made of what
            Python had taken at that line (see pulled); with a graph and per_call its count is calls x
            per_call, with a graph and without it what its own events count; scope_apart_loc, of its
            consumer, and producer_scope_apart_loc: where an op in no scope ran in a thread beside another
            that had one open, the line of that one
collective  op, devices, tensors, payload_bytes, wire_bytes, algorithm, basis, graph, per_call; of one
            that other processes take part in too, members (devices in all) and group (the same in all
            of them, ``key:instances`` in a graph, else the key alone); devices are this process's then
sync        device ('' for all), kind, bytes, basis, split: with it an event's value is the part of
            its dur, in ns, that was copying and not waiting; copied_from (device) and copy_loc, the line
            of the copy, where the code had copied the value to the host before it waited for it there
memory      device, what (in_use, peak), basis, why; an event's value is bytes
mark        name; `step` is an optimizer application, `record` the start of what autograd records
node        graph, node, device: an op of a graph seen to run, basis sampled
mixed       op, device, reads (devices of inputs that lay elsewhere), bytes, outcome (read: in place;
            raised: the framework refused), elsewhere (what happens on other devices, in words), basis
drift       what (differing: parameters that differ between replicas; largest_ppb: the largest
            difference in parts per billion of the largest value), devices, parameters (compared),
            parameter (the largest's name), exchange (how gradients are exchanged, null for not at
            all), made_loc (where the trainer was made, 0 where there is none), variables_locs (where the
            code made them itself, the largest's line first); one event a comparison, its value the figure
copies      device, op, within, stays: copies that the framework's own profiler saw while the call at
            that line was underway; with stays, from an array of the device to another one there
again       graph, tensor, src, dst: of a transfer of a captured tensor, those of one that a call before
            had sent already; without a graph also loc, producer_loc and shape: of the copies that code
            called, those of an array that they had copied before and that had not changed since
pulled      graph, tensor, src, dst, pulled_loc, facts: of a transfer of an argument, those of a tensor
            that was made, on the host, of an array which Python had taken from a device at pulled_loc;
            facts as a hop's: pulled_from, the device, or changed_from where it was changed in place since
opaque      function, ops (null where not known), asked (devices that its ops were requested on), devices
            (where it ran), how (jit_compile, auto-clustering), called_loc: calls of what XLA compiled; loc is
            the line that made it a function
==========  ========================================================================================

Facts (I) that the analysis knows: framework_version, devices, devices_complete (there are no others),
device_map (see card_facts in cards.py), cuda_environment (the variables that CUDA counted by), role, rank,
default_device (where ops go that nobody placed), source_notes (see sources.py), serialised (why times are not
those of a normal run), ended.

Times are nanoseconds of the monotonic clock since the header's ``mono_ns``. Ids are dense from 1;
0 is none. Standard library only: this runs inside any program's interpreter.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import threading
from collections.abc import Iterator
from typing import Any, Optional

from .rows import FORMAT, VERSION

_CHUNK = 1 << 20
_KEYS = 1 << 13
_dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, check_circular=False).encode


def is_definition(line: bytes) -> bool:
    """Whether a line of a trace defines what others refer to by number."""
    return line[2:3] in b"SLKGNE"


def definitions_in(path: str) -> Iterator[bytes]:
    """Those lines of a trace that another process may be writing on; OSError where it can't be read."""
    with open(path, "rb") as lines:
        for line in lines:
            if line[:1] != b"[" or not line.endswith(b"\n"):
                break
            if is_definition(line):
                yield line


class TraceWriter:
    """Appends records to a process's trace; after a full disk it stops and counts what it dropped."""

    def __init__(self, folder: str, name: str, header: dict[str, Any]) -> None:
        """Open `folder`/`name`.jsonl and .counts and write the header record.

        Raises OSError where the folder can't be written; later failures never reach the program.
        """
        self.path = os.path.join(folder, name + ".jsonl")
        self.dropped = 0
        self.failure: Optional[str] = None
        self._lock = threading.RLock()
        self._busy = False
        self._waiting: list[bytes] = []
        self._size = self._position = 0
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
        self._file = os.open(self.path, flags, 0o644)
        self._map: Optional[mmap.mmap] = None
        self._counts_file = os.open(os.path.join(folder, name + ".counts"), flags, 0o644)
        self._counts_map: Optional[mmap.mmap] = None
        self.counts: memoryview = memoryview(bytearray(0))
        self._grow(_CHUNK)
        self.grow_counts(_KEYS)
        self.append(["H", VERSION, {"format": FORMAT, "version": VERSION, **header}])

    def append(self, record: list[Any]) -> None:
        """Write one record; any thread may call, also a signal handler in the middle of an append."""
        self.append_bytes(_dumps(record).encode("ascii") + b"\n")

    def append_bytes(self, line: bytes) -> None:
        """Write one line, made by the caller where speed matters; it must end with a newline."""
        with self._lock:
            if self._busy:  # a signal handler of this very thread: its line follows the one underway
                self._waiting.append(line)
                return
            self._busy = True
            try:
                self._put(line)
                while self._waiting:
                    self._put(self._waiting.pop(0))
            finally:
                self._busy = False

    def _put(self, line: bytes) -> None:
        end = self._position + len(line)
        if end > self._size:
            self._grow(max(_CHUNK, len(line)))
        if self._map is None or end > self._size:
            self.dropped += 1
            return
        self._map[self._position : end] = line
        self._position = end

    def _grow(self, more: int) -> None:
        """Reserve blocks before mapping them: writing to a map of a full disk would kill the program."""
        if self.failure is not None:
            return
        try:
            _reserve(self._file, self._size, more)
            grown = mmap.mmap(self._file, self._size + more)
        except (OSError, ValueError) as error:
            self.failure = _reason(error)
            return
        if self._map is not None:
            self._map.close()
        self._map = grown
        self._size += more

    def grow_counts(self, keys: int) -> None:
        """Make room for `keys` counters; where that fails, further counters live in memory only."""
        size = keys * 8
        old = self.counts
        try:
            _reserve(self._counts_file, 0, size)
            self._counts_map = mmap.mmap(self._counts_file, size)
            self.counts = memoryview(self._counts_map).cast("q")
        except (OSError, ValueError) as error:
            self.failure = self.failure or _reason(error)
            grown = memoryview(bytearray(size)).cast("q")
            grown[: len(old)] = old
            self.counts = grown

    def definitions(self) -> list[bytes]:
        """The lines written so far that define something."""
        with self._lock:
            text = b"" if self._map is None else self._map[: self._position]
        return [line for line in text.splitlines(True) if is_definition(line)]

    def close(self) -> None:
        """Cut the unused tail off; the program may still be writing through another copy after a fork."""
        with self._lock:
            if self._map is None:
                return
            self._map.flush()
            self._map.close()
            self._map = None
            os.ftruncate(self._file, self._position)
            os.close(self._file)
            self._size = self._position
            self.failure = self.failure or "closed"


class NoWriter(TraceWriter):
    """Takes records and keeps none: for a process that could not make its trace."""

    def __init__(self, keys: int) -> None:
        """Counters for `keys` keys, in memory only."""
        self.path = os.devnull
        self.dropped = 0
        self.failure = "the trace could not be made"
        self.counts = memoryview(bytearray(8 * keys)).cast("q")

    def append_bytes(self, line: bytes) -> None:
        """Count the record as dropped."""
        self.dropped += 1

    def grow_counts(self, keys: int) -> None:
        """Make room for `keys` counters."""
        grown = memoryview(bytearray(8 * keys)).cast("q")
        grown[: len(self.counts)] = self.counts
        self.counts = grown

    def definitions(self) -> list[bytes]:
        """None were kept."""
        return []

    def close(self) -> None:
        """Nothing to close."""


def _reserve(file: int, offset: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, offset, size)
    else:
        os.pwrite(file, b"\0" * size, offset)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full"
    return str(error)
