"""Where the table of arrays learns that one is freed, is a view of another, or is another's gradient."""

from __future__ import annotations

from typing import Any, Callable

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.recording import Recording
from . import variables
from .arrays import Arrays


def install(recording: Recording) -> Arrays:
    """Forget arrays when they are freed, and let views inherit what is known of their base."""
    from mxnet._ctypes import ndarray as ctypes_ndarray
    from mxnet.base import _LIB, check_call
    from mxnet.ndarray import ndarray
    from mxnet.numpy import multiarray

    arrays = Arrays.of(recording)
    marks, wanted, gradients, nodes = arrays.marks, arrays.wanted, arrays.gradients, arrays.nodes
    base: Any = ctypes_ndarray.NDArrayBase
    free: Callable[[Any], int] = _LIB.MXNDArrayFree

    @stands_for(base.__del__)
    def __del__(self: Any) -> None:
        handle = self.handle
        if handle is not None:
            try:
                address = handle.value
                if address in nodes:
                    nodes.pop(address, None)
                mark = marks.pop(address, None)
                if address in gradients:
                    arrays.gradient_freed(address, mark)
                elif mark is not None and mark.bytes:
                    mark.total[0] -= mark.bytes
                if address in wanted:
                    wanted.discard(address)
                    arrays.copies.pop(address, None)
                    variables.freed(arrays, address)
                    arrays.gradient_let_go(address)
            except Exception as error:  # noqa: BLE001 - the array must be freed all the same
                recording.failed("arrays that are freed", error)
        with PASSING:
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
    guard = arrays.recording.guard("gradients that are handed out")

    @stands_for(hand_out)
    def grad(self: Any) -> Any:
        with PASSING:
            gradient = hand_out(self)
        with guard:
            if gradient is not None:
                arrays.handed_gradient(self.handle, gradient.handle)
        return gradient

    owner.grad = property(grad, owner.grad.fset)


def _pass_on(arrays: Arrays, owner: Any, name: str) -> None:
    original = vars(owner).get(name)
    if original is None:
        return
    failed = arrays.recording.failed

    @stands_for(original)
    def viewed(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = original(self, *args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        try:
            handle = getattr(result, "handle", None)
            if handle is not None and handle.value not in arrays.marks:
                arrays.view(handle, self.handle, name)
        except Exception as error:  # noqa: BLE001 - the program's call must not fail by it
            failed("views of arrays", error)
        return result

    setattr(owner, name, viewed)
