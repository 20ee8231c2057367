"""What an array's handle tells, and what is remembered of it: who made it, where, and how large it is.

NDArray has neither a dictionary nor weak references, so what is remembered stands in a table by the
address of its C handle, and goes when the handle is freed. Asking MXNet costs one to three microseconds
a question, so the hot path looks into the table and asks only what it does not know.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Optional

from ..trace.hop import HOST
from ..trace.recording import Recording
from ..trace.replica_sets import Copy

if TYPE_CHECKING:
    from .replicas_apart import Apart

_KINDS = {1: "cpu", 2: "gpu", 3: "host", 5: "host"}
"""Context types: cpu_pinned and cpu_shared are the host's memory, allocated in another way."""
_DTYPES = {
    0: ("float32", 4),
    1: ("float64", 8),
    2: ("float16", 2),
    3: ("uint8", 1),
    4: ("int32", 4),
    5: ("int8", 1),
    6: ("int64", 8),
    7: ("bool", 1),
    12: ("bfloat16", 2),
}
"""Type code (mshadow/base.h) -> name and bytes an element."""
_names: dict[tuple[int, int], str] = {}


GRADIENT = "gradient"
"""What made the values of an array that MXNet hands out as another one's gradient."""

Origin = tuple[str, int]
"""(device, location of the copy) of what came to the host from a device by a copy that the code called."""
Moved = tuple[str, int]
"""(device, location of the copy) of what is, unchanged, what a copy brought from another device."""


class Mark:
    """Who made an array, where it lives, and what it holds; one for all arrays that are alike in that."""

    __slots__ = (
        "_view",
        "base",
        "bytes",
        "device",
        "filled",
        "loc",
        "moved",
        "op",
        "origin",
        "requested",
        "sent",
        "total",
    )

    def __init__(
        self,
        op: str,
        loc: int,
        device: str,
        requested: str = "",
        size: int = 0,
        total: Optional[Any] = None,
        origin: Optional[Origin] = None,
        moved: Optional[Moved] = None,
    ) -> None:
        """`total` is the [in use, peak] of the device that `size` bytes are counted in."""
        self.op = op
        self.loc = loc
        self.device = device
        self.requested = requested
        self.bytes = size
        self.total: list[int] = total if total is not None else [0, 0]
        self.origin = origin
        """For an array of the host: whose value it waits for, because it was copied from there."""
        self.moved = moved
        """For what a copy brought, or only another shape of that: where from."""
        self.filled = False
        """One of them got new values in its place, or may get them without being seen."""
        self.sent: Optional[dict[Any, Any]] = None
        """For the mark of one array alone: what is known of its copies to other devices."""
        self._view: Optional[Mark] = None
        self.base: Optional[Mark] = None
        """For a view: the mark of what it is a view of."""

    def view(self) -> Mark:
        """The same for an array that shares the memory: it holds nothing itself."""
        if self._view is None:
            self._view = Mark(
                self.op, self.loc, self.device, self.requested, 0, None, self.origin, self.moved
            )
            self._view.base = self.base or self
        return self._view

    def of_one(self) -> Mark:
        """The same for one array alone, until it gets new values."""
        mark = Mark(
            self.op, self.loc, self.device, self.requested, self.bytes, self.total, self.origin, self.moved
        )
        mark.base, mark.sent = self.base, {}
        if self._view is not None:
            mark.view()  # one of those views may be of it
        return mark

    def shared(self) -> bool:
        """Whether arrays like it share their memory with others: it is a view, or has some."""
        return self.base is not None or self._view is not None

    def overwritten(self) -> None:
        """One of them got new values: those that share its memory, which nobody knows, got them too."""
        for mark in (self.base, self.base and self.base._view, self, self._view):
            if mark is not None:
                mark.moved = None
                mark.filled = True


def device_name(kind: int, number: int) -> str:
    """``cpu:1`` for a context's type and number; host memory of any sort is ``cpu:0``.

    Always the same object for one device, so that devices compare by identity.
    """
    known = _names.get((kind, number))
    if known is None:
        word = _KINDS.get(kind, "cpu")
        host = word == "host" or (word, number) == ("cpu", 0)
        known = _names[(kind, number)] = HOST if host else sys.intern(f"{word}:{number}")
    return known


def context_name(context: Any) -> str:
    """``gpu:1`` for a Context."""
    return device_name(context.device_typeid, context.device_id)


class Arrays:
    """The marks of all living arrays, and the bytes that they hold on each device."""

    _of: ClassVar[dict[int, Arrays]] = {}

    def __init__(self, recording: Recording) -> None:
        """`recording` gets to know each device that turns up."""
        from mxnet.base import _LIB
        from mxnet.ndarray import ndarray

        self.recording = recording
        self.marks: dict[int, Mark] = {}
        self.wanted: set[int] = set()
        """Addresses of the arrays that gradients are wanted for."""
        self.totals: dict[str, list[int]] = {}
        """[bytes in use, most bytes ever in use] by device."""
        self.written_unseen: set[int] = set()
        """Addresses of arrays that executors and traced blocks write to."""
        self.shared_fills: dict[str, int] = {}
        """How often memory of a device that several arrays share got new values."""
        self.gradients: dict[int, int] = {}
        """Address of a gradient's array -> that of the array whose gradient it is."""
        self._held: dict[int, Mark] = {}
        """By the address of an array: its gradient, when only MXNet itself still holds that."""
        self.copies: dict[int, Copy] = {}
        """By address: the arrays that may be copies of one parameter."""
        self.apart: Optional[Apart] = None
        """Who wants to know what is written to those."""
        self.inside = threading.local()
        """`device`: that of the operator in Python which this thread runs."""
        self.new_device: list[Callable[[str], None]] = []
        """Called with each device when it turns up for the first time."""
        self._context = _LIB.MXNDArrayGetContext
        self._wide = bool(ndarray._int64_enabled())
        self._shape = _LIB.MXNDArrayGetShapeEx64 if self._wide else _LIB.MXNDArrayGetShapeEx
        self._dtype = _LIB.MXNDArrayGetDType
        self._storage = _LIB.MXNDArrayGetStorageType
        self._strange: dict[str, Mark] = {}

    @classmethod
    def of(cls, recording: Recording) -> Arrays:
        """The one of this recording."""
        known = cls._of.get(id(recording))
        if known is None:
            known = cls._of[id(recording)] = cls(recording)
        return known

    def mark(self, handle: Any) -> Mark:
        """What is known of a handle; where nothing is, only where it lives."""
        known = self.marks.get(handle.value)
        if known is None:
            device = self.device(handle)
            known = self._strange.get(device)
            if known is None:
                known = self._strange[device] = Mark("?", 0, device)
                known.filled = True
            self.marks[handle.value] = known
        return known

    def device(self, handle: Any) -> str:
        """Where a handle's array lives, asked of MXNet."""
        kind, number = ctypes.c_int(), ctypes.c_int()
        self._context(handle, ctypes.byref(kind), ctypes.byref(number))
        return self.named(device_name(kind.value, number.value))

    def named(self, device: str) -> str:
        """The same name, once everybody who wants to know of a new device has been told."""
        if device not in self.totals:
            self.totals[device] = [0, 0]
            for tell in self.new_device:
                tell(device)
        return device

    def shape(self, handle: Any) -> tuple[int, ...]:
        """Extents, asked of MXNet; () for a scalar and where they are not known yet."""
        rank, extents = ctypes.c_int(), ctypes.POINTER(ctypes.c_int64 if self._wide else ctypes.c_int)()
        self._shape(handle, ctypes.byref(rank), ctypes.byref(extents))
        return tuple(extents[: rank.value]) if rank.value > 0 else ()

    def handed_gradient(self, of: Any, handle: Any) -> None:
        """MXNet handed out the gradient of an array, in a new handle."""
        device = self.mark(of).device
        known = self._strange.get(f"{GRADIENT} {device}")
        if known is None:
            known = self._strange[f"{GRADIENT} {device}"] = Mark(GRADIENT, 0, device)
            known.filled = True
        self.marks.setdefault(handle.value, known)

    def dtype(self, handle: Any) -> tuple[str, int]:
        """Type's name and bytes an element, asked of MXNet; ('?', 0) for an unknown one."""
        code = ctypes.c_int()
        self._dtype(handle, ctypes.byref(code))
        return _DTYPES.get(code.value, ("?", 0))

    def sparse(self, handle: Any) -> bool:
        """Whether only some of its values are stored, so that its extents don't tell its bytes."""
        code = ctypes.c_int()
        self._storage(handle, ctypes.byref(code))
        return code.value > 0

    def size(self, handle: Any) -> int:
        """Bytes of an array's values."""
        count = self.dtype(handle)[1]
        for extent in self.shape(handle):
            count *= extent
        return count

    def made(self, handle: Any, mark: Mark) -> None:
        """A new array, or new values in an old one: from now on it is known as `mark` says."""
        address = handle.value
        old = self.marks.get(address)
        if old is not None:
            old.filled = True
            if old.shared():
                self.shared_filled(old)
                view = mark.view()  # a base stays one that has views
                mark = mark if old.base is None else view
        self.marks[address] = mark
        more = mark.bytes
        if old is not None:
            if old.total is mark.total:
                more -= old.bytes
            else:
                old.total[0] -= old.bytes
        if more:
            total = mark.total
            total[0] += more
            if total[0] > total[1]:  # noqa: PLR1730 - a call of max costs more than all the rest here
                total[1] = total[0]

    def told_of(self, handle: Any) -> bool:
        """Whether an array gets new values only where that is seen, so that its mark tells what it holds."""
        return handle.value not in self.gradients and handle.value not in self.written_unseen

    def shared_filled(self, mark: Mark) -> None:
        """Memory that several arrays share, one of them known by `mark`, got new values."""
        mark.overwritten()
        self.shared_fills[mark.device] = self.shared_fills.get(mark.device, 0) + 1

    def gradient_of(self, address: int, gradient: int) -> None:
        """The array at `gradient` becomes the gradient of that at `address`, which from now on holds it."""
        self.gradient_let_go(address)
        self.gradients[gradient] = address

    def gradient_freed(self, gradient: int, mark: Mark) -> None:
        """Python let go of a gradient; its memory stays in use as long as the array that it belongs to."""
        address = self.gradients.pop(gradient)
        if address in self.wanted:
            self._held[address] = mark
        else:
            mark.total[0] -= mark.bytes

    def gradient_let_go(self, address: int) -> None:
        """The array at `address` is freed, or gets another gradient."""
        held = self._held.pop(address, None)
        if held is not None:
            held.total[0] -= held.bytes

    def overwritten(self, handle: Any, op: str = "", value: Any = None, loc: int = 0) -> None:
        """An array that is there got new values: by an op, of which `value` is the first input, or else."""
        if self.apart is not None and handle.value in self.copies:
            self.apart.wrote(self.copies[handle.value], op, value, loc)

    def view(self, handle: Any, of: Any) -> None:
        """`handle` shares the memory of `of`."""
        known = self.marks.get(of.value)
        if known is not None:
            self.marks[handle.value] = known.view()


def install(recording: Recording) -> Arrays:
    """Forget arrays when they are freed, and let views inherit what is known of their base."""
    from mxnet._ctypes import ndarray as ctypes_ndarray
    from mxnet.base import _LIB, check_call
    from mxnet.ndarray import ndarray
    from mxnet.numpy import multiarray

    arrays = Arrays.of(recording)
    marks, wanted, gradients = arrays.marks, arrays.wanted, arrays.gradients
    base: Any = ctypes_ndarray.NDArrayBase
    free: Callable[[Any], int] = _LIB.MXNDArrayFree

    def __del__(self: Any) -> None:
        handle = self.handle
        if handle is not None:
            address = handle.value
            mark = marks.pop(address, None)
            if mark is not None and mark.bytes:
                if address in gradients:
                    arrays.gradient_freed(address, mark)
                else:
                    mark.total[0] -= mark.bytes
            if address in wanted:
                wanted.discard(address)
                arrays.copies.pop(address, None)
                arrays.gradient_let_go(address)
        check_call(free(handle))  # all that the method did

    base.__del__ = __del__
    for name in ("_slice", "_at", "reshape", "detach", "as_np_ndarray", "as_nd_ndarray"):
        for owner in (ndarray.NDArray, multiarray.ndarray):
            _pass_on(arrays, owner, name)
    for owner in (ndarray.NDArray, multiarray.ndarray):
        if isinstance(vars(owner).get("grad"), property):
            _hand_out_gradients(arrays, owner)
    return arrays


def _hand_out_gradients(arrays: Arrays, owner: Any) -> None:
    hand_out = owner.grad.fget

    @functools.wraps(hand_out)
    def grad(self: Any) -> Any:
        gradient = hand_out(self)
        if gradient is not None:
            arrays.handed_gradient(self.handle, gradient.handle)
        return gradient

    owner.grad = property(grad, owner.grad.fset)


def _pass_on(arrays: Arrays, owner: Any, name: str) -> None:
    original = vars(owner).get(name)
    if original is None:
        return

    @functools.wraps(original)
    def viewed(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        handle = getattr(result, "handle", None)
        if handle is not None and handle.value not in arrays.marks:
            arrays.view(handle, self.handle)
        return result

    setattr(owner, name, viewed)
