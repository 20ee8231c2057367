"""Sees reads of eager tensors through Python's buffer protocol: ``np.asarray(t)``, ``np.mean(t)``.

numpy prefers that protocol to ``__array__``, and TensorFlow implements it in C, so no Python method is
called. This wraps the type's ``bf_getbuffer`` slot (PyTypeObject in CPython's ``cpython/object.h``; the
offsets are the same from 3.9 to 3.14 and are checked against two known types first). Where the check
fails nothing is hooked and the report says that these reads are unseen.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

from ..trace.recording import Recording, clock

_AS_BUFFER = 24 + 18 * ctypes.sizeof(ctypes.c_void_p) - ctypes.sizeof(ctypes.c_void_p)
"""Offset of `tp_as_buffer` in a type object: the variable-size head, then 17 pointer-sized members."""
_Slot = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p, ctypes.c_int)
_kept: list[Any] = []


def install(recording: Recording, tensor_type: type, read: Callable[[Any, int], None]) -> None:
    """Call ``read(tensor, nanoseconds)`` after each buffer read of an instance of `tensor_type`."""
    slot = _getbuffer_slot(tensor_type)
    if slot is None:
        recording.unseen(
            "np.asarray(tensor) and its kin", "this Python's buffer slots are not where expected"
        )
        return
    original = _Slot(slot.value or 0)

    def getbuffer(tensor: Any, view: int, flags: int) -> int:
        start = clock()
        try:
            result = original(tensor, view, flags)
        except Exception:  # noqa: BLE001 - the reader falls back to __array__, which raises it properly
            return -1
        read(tensor, clock() - start)
        return int(result)

    hook = _Slot(getbuffer)
    _kept.extend((original, hook))
    plain, recorded = slot.value, ctypes.cast(hook, ctypes.c_void_p).value

    def use(paused: bool) -> None:
        slot.value = plain if paused else recorded

    use(False)
    recording.windows.on_pause.append(use)


def _getbuffer_slot(tensor_type: type) -> ctypes.c_void_p | None:
    if sys.implementation.name != "cpython" or not (3, 9) <= sys.version_info[:2] <= (3, 14):
        return None
    if _buffer_procs(int) is not None or _buffer_procs(bytes) is None:
        return None
    address = _buffer_procs(tensor_type)
    if address is None:
        return None
    slot = ctypes.c_void_p.from_address(address)
    return slot if slot.value else None


def _buffer_procs(kind: type) -> int | None:
    return ctypes.c_void_p.from_address(id(kind) + _AS_BUFFER).value
