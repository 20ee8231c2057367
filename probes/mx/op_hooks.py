"""Where the recorder of operators is called from."""

from __future__ import annotations

from typing import Any

from ..trace.frames import drop_frame, stands_for
from ..trace.recording import Recording
from .arrays import Arrays
from .ops import Ops
from .tape import Tape


def install(recording: Recording, arrays: Arrays, tape: Tape) -> Ops:
    """Hook both ways in which Python calls an op."""
    from mxnet._ffi._ctypes import function
    from mxnet._ffi.function import list_global_func_names
    from mxnet.base import MXNetError
    from mxnet.ndarray import register

    ops = Ops(recording, arrays, tape)
    invoked = ops.hook()
    guard = recording.guard("operators that raise")
    ops.refused.install()
    original = register._imperative_invoke

    @stands_for(original)
    def _imperative_invoke(
        handle: Any, ndargs: Any, keys: Any, vals: Any, out: Any, is_np_op: Any, output_is_list: Any
    ) -> Any:
        try:
            result = original(handle, ndargs, keys, vals, out, is_np_op, output_is_list)
        except BaseException as error:
            if isinstance(error, MXNetError):
                with guard:
                    ops.mixed.refused(handle, ndargs)
                ops.refused.op(handle, vals, out)
            drop_frame(error)
            raise
        invoked(handle, ndargs, result, out)
        return result

    register._imperative_invoke = _imperative_invoke

    named = {name.partition(".")[2] for name in list_global_func_names() if name.startswith("_npi.")}
    base: Any = function.FunctionBase
    call = base.__call__
    from mxnet._ctypes.ndarray import NDArrayBase

    @stands_for(call)
    def __call__(self: Any, *args: Any) -> Any:
        name = getattr(self, "__name__", None)
        try:
            result = call(self, *args)
        except BaseException as error:
            if isinstance(error, MXNetError):
                ops.refused.op(f"_npi_{name}", args, None)
            drop_frame(error)
            raise
        if name in named and isinstance(result, NDArrayBase):
            inputs = [arg for arg in args if isinstance(arg, NDArrayBase)]
            invoked(f"_npi_{name}", inputs, result, None)
        return result

    base.__call__ = __call__
    return ops
