"""Makes MXNet's profiler keep room for more CPU contexts than the machine has cores.

While MXNet is imported the profiler asks once how many cores there are, and takes that for the number of
CPU contexts. A context beyond it has its figures counted as another device's, and the second one beyond
the devices there are ends the process. So that one question gets a larger number for its answer, by way
of the table in which a loaded library keeps the addresses of the functions it calls. Where that table is
not as expected nothing is changed, and whoever runs the profiler has to stop it before such a context.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Optional

EXACT_LINES = "HOPSCOPE_EXACT_LINES"
_CONTEXTS = 128
_QUESTION = b"omp_get_num_procs"
_LINK_MAP = 2  # of dlinfo(3)
_PLT_BYTES, _STRINGS, _SYMBOLS, _PLT_KIND, _PLT = 2, 5, 6, 20, 23  # tags of elf(5)
_RELA = 7
_SYMBOL_BYTES = 24


class _LinkMap(ctypes.Structure):
    _fields_ = (("base", ctypes.c_size_t), ("name", ctypes.c_char_p), ("dynamic", ctypes.c_size_t))


class _Answer:
    """The larger number, given in place of the cores' while it is in force."""

    def __init__(self, slot: int) -> None:
        """`slot` is the address at which the library keeps that of the function."""
        self.asked = 0
        self._called = ctypes.CFUNCTYPE(ctypes.c_int)(self._contexts)  # kept: C calls it
        self._slot = ctypes.c_size_t.from_address(slot)
        self._original = self._slot.value
        self._slot.value = ctypes.cast(self._called, ctypes.c_void_p).value or self._original

    def _contexts(self) -> int:
        self.asked += 1
        return _CONTEXTS

    def withdraw(self) -> None:
        """From now on the library asks the real function."""
        self._slot.value = self._original


_answer: Optional[_Answer] = None


def prepare(libinfo: ModuleType) -> None:
    """Load MXNet's library, as `mxnet.base` is about to, and answer for the cores; `libinfo` is MXNet's."""
    global _answer
    if os.environ.get(EXACT_LINES) != "1" or sys.platform != "linux":
        return
    if struct.calcsize("P") != 8 or sys.byteorder != "little":
        return
    finder: Any = libinfo
    library = ctypes.CDLL(finder.find_lib_path()[0], ctypes.RTLD_LOCAL)
    slot = _slot_of(library, _QUESTION)
    if slot is not None and _writable(slot):
        _answer = _Answer(slot)


def contexts() -> int:
    """How many CPU contexts the profiler has room for; called when MXNet has been imported."""
    if _answer is not None:
        _answer.withdraw()
        if _answer.asked:
            return _CONTEXTS
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _slot_of(library: ctypes.CDLL, function: bytes) -> Optional[int]:
    """Where a library keeps the address of a function of another library; None where it can't be told."""
    place = ctypes.POINTER(_LinkMap)()
    handle = ctypes.c_void_p(library._handle)
    if ctypes.CDLL(None).dlinfo(handle, _LINK_MAP, ctypes.byref(place)) != 0:
        return None
    base = place.contents.base
    entries = dict(_dynamic(place.contents.dynamic))
    if entries.get(_PLT_KIND) != _RELA or not {_PLT, _PLT_BYTES, _SYMBOLS, _STRINGS} <= set(entries):
        return None

    def address(tag: int) -> int:
        """Most C libraries have made these absolute when the library was loaded."""
        value = entries[tag]
        return value if value > base else base + value

    symbols, strings = address(_SYMBOLS), address(_STRINGS)
    table = ctypes.string_at(address(_PLT), entries[_PLT_BYTES])
    for offset, info, _addend in struct.iter_unpack("<QQq", table):
        name = ctypes.c_uint32.from_address(symbols + _SYMBOL_BYTES * (info >> 32)).value
        if ctypes.string_at(strings + name, len(function) + 1) == function + b"\0":
            return int(base + offset)
    return None


def _dynamic(address: int) -> Iterator[tuple[int, int]]:
    """(tag, value) of a loaded library's dynamic section."""
    while True:
        tag, value = struct.unpack("<qQ", ctypes.string_at(address, 16))
        if tag == 0:
            return
        yield tag, value
        address += 16


def _writable(address: int) -> bool:
    """Whether the process may write there; some libraries are built with these tables made constant."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            bounds, rights = line.split(maxsplit=2)[:2]
            first, last = (int(bound, 16) for bound in bounds.split("-"))
            if first <= address < last:
                return "w" in rights
    return False
