"""Compares copies of a net on several contexts that no trainer updates together, after 1, 2, 4, 8 .. updates.

Such are a net's arrays that a loop of one's own updates each for itself, and nets with a trainer each. What
may be copies of each other stands in replica_sets.py; this tells it what is made, trained and written.
Everything here costs something only where a line made parameters of one shape on several devices.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..imports import after_import
from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording
from ..trace.replica_sets import Copy
from ..trace.towers import Towers
from . import steps
from .arrays import Arrays
from .tape import COPIES

Reader = Callable[[Any, str, Sequence[int]], Any]
"""Gives the first elements of the array of a handle, of a type and shape, unseen by the recorder."""
_MOST_RESTARTS = 2
_BY_DIFFERENCE = frozenset({"broadcast_sub", "elemwise_sub", "_sub", "_minus", "_npi_subtract"})
_BY_SUM = frozenset({"broadcast_add", "elemwise_add", "_add", "_plus", "_npi_add"})
_SETTINGS = (
    "lr",
    "wd",
    "momentum",
    "beta",
    "beta1",
    "beta2",
    "epsilon",
    "gamma1",
    "gamma2",
    "lamda1",
    "clip_gradient",
    "clip_weights",
    "centered",
)


class Apart:
    """The arrays that may be copies of one parameter."""

    def __init__(self, recording: Recording, arrays: Arrays, read: Reader) -> None:
        """Nothing was made yet."""
        self.recording = recording
        self._arrays = arrays
        self._read = read
        self._towers = Towers(recording, _settings)
        self.together = self._towers.together
        """To be told the devices that one loss depends on."""
        self.began: list[Copy] = []
        """Copies whose first values are still to be kept."""
        self.on = False
        """Some arrays may be copies of one parameter."""

    # -- what is made and trained ------------------------------------------------------------------

    def made(self, address: int) -> None:
        """Gradients of the array at this address will be wanted."""
        if address in self._arrays.copies:
            return
        handle = ctypes.c_void_p(address)
        dtype, shape = self._arrays.dtype(handle)[0], self._arrays.shape(handle)
        if not dtype.startswith("float") or self._arrays.sparse(handle) or not shape:
            return
        device, extents = self._arrays.device(handle), "x".join(map(str, shape))
        loc = self.recording.sites.current(2)

        def read() -> Any:
            there = self._arrays.copies.get(address) is copy
            return self._read(handle, dtype, shape) if there else None

        with self._towers.lock:
            copy = self._towers.made(loc, extents, dtype, device, "", read)
            self._arrays.copies[address] = copy
            copies = copy.parameter.copies
            if len(copies) > 1:
                self.began += copies.values() if len(copies) == 2 else [copy]
                self.on = True

    def named(self, handed: Iterable[Any], name: str) -> None:
        """These arrays are of a parameter of this name."""
        for array in handed:
            copy = self._arrays.copies.get(array.handle.value)
            if copy is not None:
                copy.name = name

    def differentiated(self) -> None:
        """A backward pass was asked for: what nothing updated yet holds its first values."""
        began, self.began = self.began, []
        for copy in began:
            if not copy.updates and not copy.parameter.over:
                copy.keep()

    # -- what is written ---------------------------------------------------------------------------

    def wrote(self, copy: Copy, op: str, value: Any, loc: int) -> None:
        """A copy got new values: by an op, whose first input is `value`, or, for '', by something else.

        What optimizers write is told by `stepped`.
        """
        if steps.applying():
            return
        itself = value is not None and self._arrays.copies.get(value.handle.value) is copy
        update = op.endswith("_update") or (itself and op in _BY_DIFFERENCE | _BY_SUM)
        if op in COPIES and value is not None:
            made = self._arrays.mark(value.handle)
            update = made.op in _BY_DIFFERENCE and made.device == copy.device
        self._written(copy, update, loc, None)

    def stepped(self, weights: Iterable[Any], optimizer: Any, loc: int, name: str = "") -> None:
        """An optimizer updated these arrays, of a parameter of this name where there is one."""
        for weight in weights:
            copy = self._arrays.copies.get(weight.handle.value)
            if copy is not None:
                copy.name = name or copy.name
                self._written(copy, True, loc, optimizer)

    def kept_together(self, weights: Iterable[Any]) -> None:
        """A trainer updates these together: they are compared with it."""
        for weight in weights:
            copy = self._arrays.copies.get(weight.handle.value)
            if copy is not None:
                copy.parameter.over = True

    def _written(self, copy: Copy, update: bool, loc: int, optimizer: Any) -> None:
        if self._towers.wrote(copy, update, loc, optimizer):
            copy.restarts += 1
            # Each is a wait for its values: what is assigned in every step is no copy that learns.
            copy.parameter.over |= copy.restarts > _MOST_RESTARTS
            self.began.append(copy)


def _settings(optimizer: Any) -> tuple[Any, ...]:
    schedule = getattr(optimizer, "lr_scheduler", None)
    parts = getattr(schedule, "__dict__", {})
    told = {name: part for name, part in parts.items() if isinstance(part, float)}
    settings = (getattr(optimizer, name, None) for name in _SETTINGS)
    return type(optimizer).__name__, type(schedule).__name__, told, *settings


def install(recording: Recording, arrays: Arrays, read: Reader) -> Apart:
    """Hook what wants gradients and what asks for them; to be called before the others hook it."""
    from mxnet.base import _LIB

    lib: Any = _LIB
    apart = arrays.apart = Apart(recording, arrays, read)
    guard = recording.guard("replicas that grow apart")
    mark_variables: Callable[..., int] = lib.MXAutogradMarkVariables
    run_backward: Callable[..., int] = lib.MXAutogradBackwardEx

    @stands_for(mark_variables)
    def MXAutogradMarkVariables(count: Any, handles: Any, *rest: Any) -> int:
        status = mark_variables(count, handles, *rest)
        if status == 0:
            with guard:
                for index in range(getattr(count, "value", count)):
                    apart.made(handles[index])
        return status

    @stands_for(run_backward)
    def MXAutogradBackwardEx(*args: Any) -> int:
        if apart.began:
            with guard:
                apart.differentiated()
        return run_backward(*args)

    lib.MXAutogradMarkVariables = MXAutogradMarkVariables
    lib.MXAutogradBackwardEx = MXAutogradBackwardEx
    after_import("mxnet.gluon.parameter", functools.partial(_tell_names, recording, apart))
    return apart


def _tell_names(recording: Recording, apart: Apart, module: Any) -> None:
    """Gluon's parameters have names; their arrays, by which copies are followed, have none."""
    original = module.Parameter._init_grad
    guard = recording.guard("names of parameters")

    @stands_for(original)
    def _init_grad(self: Any) -> Any:
        with PASSING:
            result = original(self)
        with guard:
            apart.named(self._data or (), self.name)
        return result

    module.Parameter._init_grad = _init_grad
