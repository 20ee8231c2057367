"""What the code writes to a gradient holds until the next backward pass that reaches it.

MXNet itself marks the arrays that a backward pass gave gradients to (`fresh_out_grad`, set by
`Imperative::Backward`), for a Trainer to ask. That mark is taken off for the while of the pass, of those
arrays only to whose gradients the code wrote, and set again where the pass did not reach them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ..trace.frames import stands_for
from ..trace.recording import Recording
from .arrays import Arrays

Before = tuple[int, Any, bool]
"""(a gradient's address, the handle of the array that it belongs to, whether that had a new gradient)."""


class Gradients:
    """The gradients to which the code wrote, around a backward pass."""

    def __init__(self, arrays: Arrays, get_state: Callable[..., int], set_state: Callable[..., int]) -> None:
        """`get_state` and `set_state` are MXNet's `MXNDArrayGetGradState` and `MXNDArraySetGradState`."""
        self._arrays = arrays
        self._get_state = get_state
        self._set_state = set_state

    def asked(self, before: list[Before]) -> None:
        """A backward pass begins; `before` gets what there is to know of each."""
        for gradient in list(self._arrays.rewritten):
            address = self._arrays.gradients.get(gradient)
            if address is None or address not in self._arrays.wanted:
                self._arrays.rewritten.pop(gradient, None)
                continue
            handle = ctypes.c_void_p(address)
            before.append((gradient, handle, self._fresh(handle)))
            self._set_state(handle, ctypes.c_int(0))

    def done(self, before: list[Before]) -> None:
        """It ended: what it reached is known once more as it was before the code wrote to it."""
        for gradient, handle, fresh in before:
            if handle.value not in self._arrays.wanted:
                continue  # freed meanwhile
            if self._fresh(handle):
                mark = self._arrays.rewritten.get(gradient)
                if mark is not None:
                    self._arrays.made(ctypes.c_void_p(gradient), mark)
                    self._arrays.rewritten.pop(gradient, None)
            elif fresh:
                self._set_state(handle, ctypes.c_int(1))

    def _fresh(self, handle: Any) -> bool:
        state = ctypes.c_int()
        self._get_state(handle, ctypes.byref(state))
        return bool(state.value)


def install(recording: Recording, arrays: Arrays) -> None:
    """Hook what asks for backward passes; to be called before the others hook it."""
    from mxnet.base import _LIB

    lib: Any = _LIB
    run_backward: Callable[..., int] = lib.MXAutogradBackwardEx
    gradients = Gradients(arrays, lib.MXNDArrayGetGradState, lib.MXNDArraySetGradState)
    guard = recording.guard("gradients to which the code wrote")

    @stands_for(run_backward)
    def MXAutogradBackwardEx(*args: Any) -> int:
        if not arrays.rewritten:
            return run_backward(*args)
        before: list[Before] = []
        with guard:
            gradients.asked(before)
        try:
            return run_backward(*args)
        finally:
            with guard:
                gradients.done(before)

    lib.MXAutogradBackwardEx = MXAutogradBackwardEx
