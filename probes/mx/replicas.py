"""Compares the replicas of a model's parameters between contexts, at steps 1, 2, 4, 8 and so on.

Replicas that exchange gradients stay equal bit for bit, or nearly; those that don't drift apart, and
nothing tells. A comparison reads at most 4,096 elements of a parameter, through MXNet's C interface,
so that nothing of it is recorded as the program's doing.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, Optional

from ..imports import after_import
from ..trace.drift import MOST_ELEMENTS, compare, write
from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording, clock
from ..trace.schema import ReplicaFields
from . import replicas_apart
from .arrays import Arrays

MADE_AT = "_hopscope_made_at"
"""Attribute of a trainer: the location that made it, where its kvstore was chosen."""
Replicas = list[tuple[str, list[Any]]]
"""(parameter's name, its array on each context)."""


class Drift:
    """Decides when to compare, compares, and writes what came of it."""

    def __init__(self, recording: Recording, arrays: Arrays) -> None:
        """Keeps the C functions as they are before anything is hooked."""
        from mxnet.base import _LIB

        self._recording = recording
        self._arrays = arrays
        self._copy_out = _LIB.MXNDArraySyncCopyToCPU
        self._slice = _LIB.MXNDArraySlice
        self._reshape = _LIB.MXNDArrayReshape64
        self._free = _LIB.MXNDArrayFree
        self._steps: dict[int, int] = {}
        self.apart = replicas_apart.install(recording, arrays, self._first_values)
        """Compares what no trainer updates together."""
        self.exchanged: Callable[[Any], bool] = bool
        """Whether gradients were ever handed to a kvstore: one that is there need not be used."""

    def stepped(self, owner: Any, loc: int) -> None:
        """A trainer or module has made a step."""
        count = self._steps.get(id(owner), 0) + 1
        self._steps[id(owner)] = count
        if self.apart.on:
            self._tell_apart(owner, loc, count)
        if count & (count - 1):
            return
        replicas, exchange = _replicas(owner)
        if exchange is not None and not self.exchanged(owner._kvstore):
            exchange = None
        if replicas:
            self._compare(replicas, exchange, loc, getattr(owner, MADE_AT, 0))

    def _tell_apart(self, owner: Any, loc: int, count: int) -> None:
        """Whether a trainer's parameters live on one context each, and another trainer has their copies."""
        for parameter in getattr(owner, "_params", None) or ():
            copies = parameter._data or []
            if len(copies) == 1:
                self.apart.stepped(copies, owner._optimizer, loc, parameter.name)
            elif count == 1:
                self.apart.kept_together(copies)

    def _compare(self, replicas: Replicas, exchange: Optional[str], loc: int, made: int) -> None:
        start = clock()
        found = compare((name, [self._values(copy) for copy in copies]) for name, copies in replicas)
        fields = ReplicaFields(
            devices=[self._arrays.device(copy.handle) for copy in replicas[0][1]],
            exchange=exchange,
            loc=loc,
            made_loc=made,
        )
        write(self._recording, found, start, fields)

    def _values(self, array: Any) -> Any:
        """The first elements of an array as numpy has them; None for types that are not floating point."""
        import numpy

        kind = numpy.dtype(array.dtype)
        if kind.kind != "f" or array.stype != "default":
            return None
        return self._first_values(array.handle, kind.name, self._arrays.shape(array.handle))

    def _first_values(self, handle: Any, dtype: str, shape: Sequence[int]) -> Any:
        import numpy

        kind, size = numpy.dtype(dtype), 1
        for extent in shape:
            size *= extent
        flat, part = ctypes.c_void_p(), ctypes.c_void_p()
        extents = (ctypes.c_int64 * 1)(-1)
        self._reshape(handle, 1, extents, ctypes.c_bool(False), ctypes.byref(flat))
        count = min(size, MOST_ELEMENTS)
        self._slice(flat, ctypes.c_uint(0), ctypes.c_uint(count), ctypes.byref(part))
        values = numpy.empty(count, kind)
        self._copy_out(part, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(count))
        self._free(part)
        self._free(flat)
        return values


def _replicas(owner: Any) -> tuple[Replicas, Optional[str]]:
    """The trained parameters that live on several contexts, and by what their gradients are exchanged."""
    store = getattr(owner, "_kvstore", None)
    exchange = None if store is None else f"kvstore {getattr(store, 'type', type(store).__name__)}"
    parameters: Sequence[Any] = getattr(owner, "_params", None) or ()
    if parameters:  # gluon's Trainer; statistics that are not trained may differ between replicas
        trained = [parameter for parameter in parameters if parameter.grad_req != "null"]
        found = [(parameter.name, parameter._data or []) for parameter in trained]
    else:
        group = getattr(owner, "_exec_group", None)
        names, arrays = getattr(group, "param_names", ()), getattr(group, "param_arrays", ())
        found = list(zip(names, arrays))
    return [(name, list(copies)) for name, copies in found if len(copies) > 1], exchange


def install(recording: Recording, arrays: Arrays) -> Drift:
    """To be called before the C functions are hooked."""
    after_import("mxnet.gluon.trainer", functools.partial(_note_where_made, recording))
    return Drift(recording, arrays)


def _note_where_made(recording: Recording, module: Any) -> None:
    init = module.Trainer.__init__
    guard = recording.guard("lines that make trainers")

    @stands_for(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        with guard:
            setattr(self, MADE_AT, recording.sites.current())
        with PASSING:
            init(self, *args, **kwargs)

    module.Trainer.__init__ = __init__
