"""Records every eager op: where it ran, its line, the copies it makes, and inputs on other contexts.

All generated functions of `mx.nd` and `mx.np` go through one Python function; the few that take
MXNet's newer call interface (`mx.np.zeros`, `mx.np.tensordot`) go through one method. What this costs
is paid on every op, so the common case is look-ups in tables and one increment.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, Optional

from ..trace.hop import hop_fields
from ..trace.recording import SINGLE_EVENTS, Recording, clock
from ..trace.sites import Sites
from .arrays import HOST, Arrays, Mark, context_name
from .tape import Copy, Tape

COPIES = frozenset({"_copyto", "_np_copyto", "_npi_copyto"})
_COPY_CALLS = {
    "copyto": "copyto",
    "as_in_context": "as_in_context",
    "as_in_ctx": "as_in_ctx",
    "as_in_device": "as_in_ctx",
    "__setitem__": "slice assignment",
    "split_and_load": "split_and_load",
    "copy": "copy",
}
"""Name of the library function that the code called -> how people know that copy."""
SMALL = 4096
"""Arrays of fewer bytes are not counted as memory once an op has shown that it makes only such."""


class _Entry:
    """What is constant for an op at a line on a device."""

    __slots__ = ("copy", "key", "large", "mark", "marks", "name")

    def __init__(self, name: str, key: int, mark: Mark) -> None:
        self.name = name
        self.key = key
        self.mark = mark
        self.copy = name in COPIES
        self.large = False
        self.marks: dict[int, Mark] = {}
        """By size in bytes."""


class Ops:
    """The hooks and their tables."""

    def __init__(self, recording: Recording, arrays: Arrays, tape: Tape) -> None:
        """`tape` follows what autograd records."""
        self.recording = recording
        self.arrays = arrays
        self.tape = tape
        self.names = op_names()
        self.updating = 0
        """Not 0 while a kvstore's updater runs: its inputs' contexts are the kvstore's doing."""
        self._entries: dict[Any, _Entry] = {}
        self._hops: dict[Any, int] = {}
        self._mixed: dict[Any, int] = {}

    def invoked(self, name: Any, inputs: Sequence[Any], outputs: Any, out: Any) -> None:
        """After an op: `name` is its C handle or its name, `out` what the caller gave to write into."""
        recording, marks = self.recording, self.arrays.marks
        location = recording.sites.current(2)
        device: Any = None
        mixed = False
        for array in inputs:
            mark = marks.get(array.handle.value)
            if mark is None:
                mark = self.arrays.mark(array.handle)
            if device is None:
                device = mark.device
            elif mark.device is not device:
                mixed = True
        single = not isinstance(outputs, (list, tuple))
        if device is None or out is not None:
            handle = (outputs if single else outputs[0]).handle
            device = self.arrays.device(handle) if out is None else self.arrays.mark(handle).device
        identity = (name, location, device)
        entry = self._entries.get(identity)
        if entry is None:
            entry = self._entries[identity] = self._define(name, location, device, inputs)
        counts = recording.counts
        key = entry.key
        count = counts[key] + 1
        counts[key] = count
        if count <= SINGLE_EVENTS:
            recording.event("op", clock(), 0, key)
        copy = None
        if entry.copy:
            copy = self._copied(inputs[0], outputs if single else outputs[0], entry, location)
        elif mixed or (
            out is not None and inputs and self.arrays.mark(inputs[0].handle).device is not device
        ):
            self._mixed_inputs(entry.name, inputs, device, location, "read")
        if self.tape.on:
            self.tape.made(inputs, (outputs,) if single else outputs, entry.name, location, device, copy)
        for output in (outputs,) if single else outputs:
            if count <= SINGLE_EVENTS or entry.large or mixed:
                size = self.arrays.size(output.handle)
                if size >= SMALL:
                    entry.large = True
                mark = entry.marks.get(size)
                if mark is None:
                    total = self.arrays.totals[device]
                    mark = entry.marks[size] = Mark(
                        entry.mark.op, location, device, entry.mark.requested, size, total
                    )
                if mixed and not single:
                    mark = self._placed_apart(output, mark)
                self.arrays.made(output.handle, mark)
            else:
                self.arrays.made(output.handle, entry.mark)

    def _placed_apart(self, output: Any, mark: Mark) -> Mark:
        """An op that updates several arrays in place, on several devices: each stays where it is."""
        device = self.arrays.device(output.handle)
        if device is mark.device:
            return mark
        return Mark(mark.op, mark.loc, device, mark.requested, mark.bytes, self.arrays.totals[device])

    def _define(self, name: Any, location: int, device: str, inputs: Sequence[Any]) -> _Entry:
        text = self.names.get(name, name) if isinstance(name, int) else name
        scope = _scope()
        requested = device if not inputs and (scope == device or device != HOST) else ""
        fields = {
            "op": text,
            "device": device,
            "requested": requested,
            "loc": location,
            "forward_loc": 0,
        }
        key = self.recording.key(("op", text, device, location), "op", fields)
        return _Entry(
            str(text), key, Mark(str(text), location, device, requested, 0, self.arrays.totals[device])
        )

    # -- transfers ---------------------------------------------------------------------------------

    def _copied(self, source: Any, target: Any, entry: _Entry, location: int) -> Optional[Copy]:
        """A copy that the code, or the library for it, asked for by name; what the tape must know of it."""
        mark = self.arrays.mark(source.handle)
        dst = self.arrays.mark(target.handle).device
        call = _copy_call(self.recording.sites)
        if mark.device is dst and (dst is HOST or call in ("copy", "slice assignment", "")):
            return None  # a snapshot or an assignment on one device
        shape = self.arrays.shape(source.handle)
        dtype = self.arrays.dtype(source.handle)
        identity = (mark.op, mark.loc, mark.device, dst, location, shape, dtype, call)
        key = self._hops.get(identity)
        if key is None:
            size = dtype[1]
            for extent in shape:
                size *= extent
            fields = hop_fields(
                mark.device,
                dst,
                op=entry.name,
                loc=location,
                producer_op=mark.op,
                producer_loc=mark.loc,
                size=size,
                dtype=dtype[0],
                shape=shape,
                kind="copy",
                requested=dst,
                producer_requested=mark.requested,
                facts={"copy_call": call} if call else {"copy_call": entry.name},
            )
            key = self._hops[identity] = self.recording.key(("copy", *identity), "hop", fields)
        self.recording.happened(key, "hop")
        return (mark.device, dst, shape, dtype, mark.op) if mark.device is not dst else None

    def _mixed_inputs(
        self, name: str, inputs: Sequence[Any], device: str, location: int, outcome: str
    ) -> None:
        if self.updating:
            return
        others = [a for a in inputs if self.arrays.mark(a.handle).device is not device]
        reads = sorted({self.arrays.mark(a.handle).device for a in others})
        identity = (name, location, device, tuple(reads), outcome)
        key = self._mixed.get(identity)
        if key is None:
            fields = {
                "op": name,
                "device": device,
                "reads": reads,
                "bytes": sum(self.arrays.size(a.handle) for a in others),
                "loc": location,
                "outcome": outcome,
                "basis": "measured",
            }
            key = self._mixed[identity] = self.recording.key(("mixed", *identity), "mixed", fields)
        self.recording.happened(key, "mixed")

    def refused(self, name: Any, inputs: Sequence[Any]) -> None:
        """An op raised: if its inputs lie on different contexts that is why, or worth knowing at least."""
        devices = {self.arrays.mark(array.handle).device for array in inputs}
        if len(devices) > 1:
            text = str(self.names.get(name, name))
            first = self.arrays.mark(inputs[0].handle).device
            self._mixed_inputs(text, inputs, first, self.recording.sites.current(2), "raised")

    def uploaded(self, handle: Any, elements: int, dur: int) -> None:
        """Python or numpy data was written into an array."""
        device = self.arrays.device(handle)
        location = self.recording.sites.current(2)
        identity = ("upload", device, location, elements)
        known = self._entries.get(identity)
        if known is None:
            dtype, shape = self.arrays.dtype(handle), self.arrays.shape(handle)
            size = self.arrays.size(handle)
            mark = Mark("Python", location, device, "", size, self.arrays.totals[device])
            key = 0
            if device is not HOST:
                fields = hop_fields(
                    HOST,
                    device,
                    op="Python",
                    loc=location,
                    producer_op="Python",
                    producer_loc=location,
                    size=size,
                    dtype=dtype[0],
                    shape=shape,
                    kind="upload",
                    requested=device,
                )
                key = self.recording.key(identity, "hop", fields)
            known = self._entries[identity] = _Entry("Python", key, mark)
        if known.key:
            self.recording.happened(known.key, "hop", dur)
        self.arrays.made(handle, known.mark)


def op_names() -> dict[int, str]:
    """Name of each op by its C handle; of several names of one op the plainest."""
    from mxnet.base import _LIB, OpHandle, c_str, check_call

    count, listed = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(listed)))
    names: dict[int, str] = {}
    for index in range(count.value):
        raw = listed[index] or b""
        handle = OpHandle()
        check_call(_LIB.NNGetOpHandle(c_str(raw.decode()), ctypes.byref(handle)))
        name, old = raw.decode(), names.get(handle.value or 0)
        if old is None or _plainness(name) < _plainness(old):
            names[handle.value or 0] = name
    return names


def _plainness(name: str) -> tuple[bool, bool, bool, int]:
    """The smaller, the more it is the name that people know: `relu`, `_mul_scalar` before `_MulScalar`."""
    return name.startswith(("_sparse_", "_contrib_")), name.startswith("_"), name != name.lower(), len(name)


def _scope() -> Optional[str]:
    """The device of the innermost `with mx.gpu(1):`; None where there is none."""
    from mxnet.context import Context

    context = getattr(Context._default_ctx, "value", None)
    return None if context is None or context._old_ctx is None else context_name(context)


def _copy_call(sites: Sites) -> str:
    """The outermost of the library's frames below the user's that is known to copy."""
    frame: Any = sys._getframe(4)
    found = ""
    for _ in range(8):
        if frame is None or sites.is_user(frame.f_code.co_filename):
            break
        found = _COPY_CALLS.get(frame.f_code.co_name, found)
        frame = frame.f_back
    return found


def install(recording: Recording, arrays: Arrays, tape: Tape) -> Ops:
    """Hook both ways in which Python calls an op."""
    from mxnet._ffi._ctypes import function
    from mxnet._ffi.function import list_global_func_names
    from mxnet.base import MXNetError
    from mxnet.ndarray import register

    ops = Ops(recording, arrays, tape)
    invoked = ops.invoked
    original = register._imperative_invoke

    def _imperative_invoke(
        handle: Any, ndargs: Any, keys: Any, vals: Any, out: Any, is_np_op: Any, output_is_list: Any
    ) -> Any:
        try:
            result = original(handle, ndargs, keys, vals, out, is_np_op, output_is_list)
        except MXNetError:
            ops.refused(handle, ndargs)
            raise
        invoked(handle, ndargs, result, out)
        return result

    register._imperative_invoke = _imperative_invoke

    named = {name.partition(".")[2] for name in list_global_func_names() if name.startswith("_npi.")}
    base: Any = function.FunctionBase
    call = base.__call__
    from mxnet._ctypes.ndarray import NDArrayBase

    def __call__(self: Any, *args: Any) -> Any:
        result = call(self, *args)
        name = getattr(self, "__name__", None)
        if name in named and isinstance(result, NDArrayBase):
            inputs = [arg for arg in args if isinstance(arg, NDArrayBase)]
            invoked(f"_npi_{name}", inputs, result, None)
        return result

    base.__call__ = __call__
    return ops
