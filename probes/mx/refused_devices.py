"""Ops and arrays that MXNet refused since the program asked for a GPU that its build or the machine lacks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional

from ..trace.recording import Recording
from ..trace.schema import AbsentFields

_GPU = 2
"""Type of a context that is a GPU."""
_WRITTEN = re.compile(r"gpu\((\d+)\)")


class RefusedDevices:
    """What was refused, by line and device. Nothing is asked of MXNet before something was."""

    def __init__(self, recording: Recording, names: Mapping[Any, str]) -> None:
        """`names` are ops' by their C handles."""
        self._recording = recording
        self._names = names
        self._guard = recording.guard("devices that were refused")

    def op(self, name: Any, given: Iterable[Any], out: Any) -> None:
        """An op raised: `given` are its arguments' values, of which one may be a context as text."""
        with self._guard:
            outputs = out if isinstance(out, (list, tuple)) else [out]
            contexts = [getattr(one, "context", None) for one in outputs]
            self.asked(str(self._names.get(name, name)), [*given, *contexts])

    def asked(self, what: str, given: Iterable[Any]) -> None:
        """Something raised: one of these may be the context that it was asked for."""
        with self._guard:
            number = next((one for one in map(_number, given) if one is not None), None)
            if number is not None:
                self._refused(what, number)

    def _refused(self, what: str, number: int) -> None:
        gpus = _gpus()
        if number < gpus:
            return
        location = self._recording.sites.current(2)
        identity = ("absent", what, number, location)
        fields = AbsentFields(
            op=what,
            missing=f"gpu:{number}",
            loc=location,
            gpus=gpus,
            built_for_gpus=_built_for_gpus(),
            basis="measured",
        )
        self._recording.happened(self._recording.key(identity, "absent", fields), "absent")

    def install(self) -> None:
        """Wrap the two functions that take memory for an array which the program asks for."""
        from mxnet.ndarray import ndarray
        from mxnet.numpy import multiarray

        for module in (ndarray, multiarray):
            module._new_alloc_handle = self._telling(module._new_alloc_handle)

    def _telling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        from mxnet.base import MXNetError

        def _new_alloc_handle(shape: Any, ctx: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return original(shape, ctx, *args, **kwargs)
            except MXNetError:
                self.asked("a new array", [ctx])
                raise

        return _new_alloc_handle


def _number(context: Any) -> Optional[int]:
    """The number of a GPU's context, or of its text; None of anything else."""
    if isinstance(context, str):
        written = _WRITTEN.fullmatch(context)
        return int(written[1]) if written else None
    from mxnet.context import Context

    return context.device_id if isinstance(context, Context) and context.device_typeid == _GPU else None


def _gpus() -> int:
    from mxnet import context
    from mxnet.base import MXNetError

    try:
        return int(context.num_gpus())
    except MXNetError:  # a driver that answers nothing lends no GPU
        return 0


def _built_for_gpus() -> bool:
    from mxnet import runtime

    return bool(runtime.Features().is_enabled("CUDA"))
