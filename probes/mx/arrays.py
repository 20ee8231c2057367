"""The table of all living arrays: what an array's handle tells, and what is remembered of it.

NDArray has neither a dictionary nor weak references, so what is remembered stands in a table by the
address of its C handle, and goes when the handle is freed. Asking MXNet costs one to three microseconds
a question, so the hot path looks into the table and asks only what it does not know.
"""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Callable, ClassVar, Optional

from ..trace.hop import MAKE_ROOM
from ..trace.recording import Recording
from ..trace.replica_sets import Copy
from .contexts import device_name
from .marks import GRADIENT, Mark

if TYPE_CHECKING:
    from .replicas_apart import Apart
    from .variables import Variable

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
        self.variables: dict[int, Variable] = {}
        """What is known of these, by address."""
        self.made_anew: set[int] = set()
        """Locations that made such arrays which are gone."""
        self.nodes: dict[int, Any] = {}
        """By the address of an array: what autograd recorded of how it was made."""
        self.on_view: Callable[[str, Any, Any], None] = lambda _name, _view, _of: None
        """Called with each view of an array: the method that made it, its handle, and the array's."""
        self.on_used: Callable[[Any], None] = lambda _handle: None
        """Called with each array of the host that something else than an op takes: Python, a traced block."""
        self.totals: dict[str, list[int]] = {}
        """[bytes in use, most bytes ever in use] by device."""
        self.written_unseen: set[int] = set()
        """Addresses of arrays that executors and traced blocks write to."""
        self.shared_fills: dict[str, int] = {}
        """How often memory of a device that several arrays share got new values."""
        self.gradients: dict[int, int] = {}
        """Address of a gradient's array -> that of the array whose gradient it is."""
        self.rewritten: dict[int, Mark] = {}
        """By address: gradients to which the code wrote, and the mark that each had before."""
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
            if address in self.gradients:
                self.rewritten.setdefault(address, old)
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
        mark = self.marks.get(gradient)
        if mark is not None and mark.op not in MAKE_ROOM:
            # What the backward pass will write there was made by nothing that Python sees.
            self.rewritten[gradient] = Mark(GRADIENT, 0, mark.device, mark.requested, mark.bytes, mark.total)

    def gradient_freed(self, gradient: int, mark: Optional[Mark]) -> None:
        """Python let go of a gradient; its memory stays in use as long as the array that it belongs to."""
        address = self.gradients.pop(gradient)
        self.rewritten.pop(gradient, None)
        if mark is None or not mark.bytes:
            return
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

    def view(self, handle: Any, of: Any, method: str) -> None:
        """`handle`, by this method, shares the memory of `of`."""
        self.on_view(method, handle, of)
        known = self.marks.get(of.value)
        if known is not None:
            self.marks[handle.value] = known.view()
