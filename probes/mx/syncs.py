"""Every time Python waits for, or takes, an array's value, split into waiting for compute and copying.

The C function that copies to Python waits first. Asked to wait by itself just before, it has nothing
left to wait for, so the two parts can be timed apart and the program sees the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Optional

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.guard import Guard
from ..trace.hop import HOST, HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.recording import Recording, clock
from ..trace.schema import SyncFields
from .arrays import Arrays
from .marks import Origin
from .uploads import Uploads

_KINDS = {
    "asscalar": "asscalar",
    "item": "item",
    "tolist": "tolist",
    "__bool__": "bool",
    "__float__": "float",
    "__int__": "int",
    "__index__": "index",
    "__repr__": "print",
    "__str__": "print",
    "__array__": "array",
    "__getstate__": "pickle",
    "__reduce__": "pickle",
}
_DEPTH = 4
"""Library frames between the C call and the method that the code called, at most."""


class Syncs:
    """The hooks and their tables."""

    def __init__(self, recording: Recording, arrays: Arrays) -> None:
        """Nothing was taken yet."""
        self._recording = recording
        self._arrays = arrays
        self._syncs: dict[Any, int] = {}
        self._pulls: dict[Any, int] = {}

    def taken(self, handle: Any, wait: int, copy: int) -> None:
        """A value was copied to Python."""
        mark = self._arrays.mark(handle)
        device = mark.device
        location = self._recording.sites.current(2)
        kind = _kind(sys._getframe(2), "asnumpy")
        shape = self._arrays.shape(handle)
        identity = (device, kind, location, shape, mark.origin)
        key = self._syncs.get(identity)
        if key is None:
            size = self._arrays.size(handle)
            key = self._syncs[identity] = self._key(device, kind, location, size, mark.origin)
        self._recording.happened(key, "sync", wait + copy, copy)
        if device is not HOST:
            self._pulled(handle, device, kind, location, shape, copy)
        else:
            self._arrays.on_used(handle)

    def waited(
        self, device: str, kind: str, wait: int, copy: int = 0, origin: Optional[Origin] = None
    ) -> None:
        """Python waited, and took nothing; to overwrite an array it waits until nobody reads it any more."""
        location = self._recording.sites.current(2)
        identity = (device, kind, location, None, origin)
        key = self._syncs.get(identity)
        if key is None:
            key = self._syncs[identity] = self._key(device, kind, location, 0, origin)
        self._recording.happened(key, "sync", wait + copy, copy)

    def _key(self, device: str, kind: str, location: int, size: int, origin: Optional[Origin]) -> int:
        fields = SyncFields(device=device, kind=kind, loc=location, bytes=size, basis="measured", split=True)
        if origin is not None:
            fields["copied_from"], fields["copy_loc"] = origin.device, origin.loc
            if origin.others:
                fields["copied_from_too"] = list(origin.others)
        return self._recording.key(("sync", device, kind, location, size, origin), "sync", fields)

    def _pulled(
        self, handle: Any, device: str, kind: str, location: int, shape: tuple[int, ...], dur: int
    ) -> None:
        mark = self._arrays.mark(handle)
        identity = (device, kind, location, shape, mark.op, mark.loc)
        key = self._pulls.get(identity)
        if key is None:
            fields = hop_key(
                HopProducer(device, mark.op, mark.loc, requested=mark.requested),
                HopConsumer(HOST, "Python", location, names=[kind]),
                HopTensor(self._arrays.size(handle), self._arrays.dtype(handle)[0], shape),
                "pull",
                facts={"sync": kind},
            )
            key = self._pulls[identity] = self._recording.key(("pull", *identity), "hop", fields)
        self._recording.happened(key, "hop", dur)


def _kind(frame: Any, plain: str) -> str:
    """What the code called: the outermost known method among the library's frames."""
    found = plain
    for _ in range(_DEPTH):
        if frame is None:
            break
        found = _KINDS.get(frame.f_code.co_name, found)
        frame = frame.f_back
    return found


def install(recording: Recording, arrays: Arrays, uploads: Uploads) -> None:
    """Replace the C functions through which values go to Python and come from it."""
    from mxnet.base import _LIB

    lib: Any = _LIB
    syncs = Syncs(recording, arrays)
    guard = recording.guard("waits and values that Python takes")
    # Before the waits, which the copies call as they were.
    _wrap_copies(lib, syncs, arrays, uploads, guard)
    _wrap_waits(lib, syncs, arrays, guard)
    _follow_values(recording, arrays, uploads)


def _wrap_copies(lib: Any, syncs: Syncs, arrays: Arrays, uploads: Uploads, guard: Guard) -> None:
    copy_out: Callable[..., int] = lib.MXNDArraySyncCopyToCPU
    copy_in: Callable[..., int] = lib.MXNDArraySyncCopyFromCPU
    wait_to_read: Callable[..., int] = lib.MXNDArrayWaitToRead
    wait_to_write: Callable[..., int] = lib.MXNDArrayWaitToWrite
    save: Callable[..., int] = lib.MXNDArraySave
    save_raw: Callable[..., int] = lib.MXNDArraySaveRawBytes

    def MXNDArraySyncCopyToCPU(handle: Any, data: Any, size: Any) -> int:
        start = clock()
        status = wait_to_read(handle)
        if status != 0:
            return status
        ready = clock()
        status = copy_out(handle, data, size)
        with guard:
            syncs.taken(handle, ready - start, clock() - ready)
        return status

    def MXNDArraySaveRawBytes(handle: Any, size: Any, data: Any) -> int:
        start = clock()
        status = wait_to_read(handle)
        if status != 0:
            return status
        ready = clock()
        status = save_raw(handle, size, data)
        with guard:
            syncs.taken(handle, ready - start, clock() - ready)
        return status

    def MXNDArraySyncCopyFromCPU(handle: Any, data: Any, size: Any) -> int:
        start = clock()
        reused, device = False, HOST
        with guard:
            reused, device = handle.value in arrays.marks, arrays.device(handle)
        # Nobody reads a new array, but MXNet asks the engine all the same, behind work that it was given.
        if reused or device is not HOST:
            status = wait_to_write(handle)
            if status != 0:
                return status
        ready = clock()
        status = copy_in(handle, data, size)
        copied = clock() - ready
        with guard:
            uploads.uploaded(handle, device, getattr(size, "value", size), copied)
            if reused:
                syncs.waited(device, "upload", ready - start, copied)
        return status

    def MXNDArraySave(name: Any, count: Any, handles: Any, names: Any) -> int:
        with guard:
            _saved(syncs, arrays, handles, getattr(count, "value", count), wait_to_read)
        return save(name, count, handles, names)

    for function in (MXNDArraySyncCopyToCPU, MXNDArraySyncCopyFromCPU, MXNDArraySave, MXNDArraySaveRawBytes):
        setattr(lib, function.__name__, function)


def _wrap_waits(lib: Any, syncs: Syncs, arrays: Arrays, guard: Guard) -> None:
    wait_to_read: Callable[..., int] = lib.MXNDArrayWaitToRead
    wait_to_write: Callable[..., int] = lib.MXNDArrayWaitToWrite
    wait_all: Callable[..., int] = lib.MXNDArrayWaitAll

    def MXNDArrayWaitToRead(handle: Any) -> int:
        start = clock()
        status = wait_to_read(handle)
        dur = clock() - start
        with guard:
            mark = arrays.mark(handle)
            syncs.waited(mark.device, "wait_to_read", dur, origin=mark.origin)
        return status

    def MXNDArrayWaitToWrite(handle: Any) -> int:
        start = clock()
        status = wait_to_write(handle)
        with guard:
            syncs.waited(arrays.device(handle), "wait_to_write", clock() - start)
        return status

    def MXNDArrayWaitAll() -> int:
        start = clock()
        status = wait_all()
        with guard:
            syncs.waited("", "waitall", clock() - start)
        return status

    for function in (MXNDArrayWaitToRead, MXNDArrayWaitToWrite, MXNDArrayWaitAll):
        setattr(lib, function.__name__, function)


def _follow_values(recording: Recording, arrays: Arrays, uploads: Uploads) -> None:
    """Arrays that Python took are known when they are sent to a device again."""
    from mxnet.ndarray.ndarray import NDArray

    take: Callable[[Any], Any] = NDArray.asnumpy
    send: Callable[[Any, Any], Any] = NDArray._sync_copyfrom
    guard = recording.guard("arrays that Python took")

    @stands_for(take)
    def asnumpy(self: Any) -> Any:
        try:
            values = take(self)
        except BaseException as error:
            drop_frame(error)
            raise
        with guard:
            device = arrays.device(self.handle)
            if device is not HOST:
                uploads.pulled.took(values, device, recording.sites.current())
        return values

    @stands_for(send)
    def _sync_copyfrom(self: Any, source_array: Any) -> Any:
        uploads.sending.source = source_array
        try:
            with PASSING:
                return send(self, source_array)
        finally:
            uploads.sending.source = None

    NDArray.asnumpy = asnumpy
    NDArray._sync_copyfrom = _sync_copyfrom


def _saved(
    syncs: Syncs, arrays: Arrays, handles: Sequence[Any], count: int, wait: Callable[..., int]
) -> None:
    """`nd.save` waits for each array and copies those of other devices to the host."""
    import ctypes

    for index in range(count):
        handle = ctypes.c_void_p(handles[index])
        start = clock()
        wait(handle)
        dur, mark = clock() - start, arrays.mark(handle)
        device = mark.device
        syncs.waited(device, "save", dur, origin=mark.origin)
        if device is not HOST:
            location = syncs._recording.sites.current(2)
            syncs._pulled(handle, device, "save", location, arrays.shape(handle), 0)
        else:
            arrays.on_used(handle)
