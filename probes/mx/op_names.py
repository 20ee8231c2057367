"""What people call MXNet's ops: Python calls them by the addresses of their handles."""

from __future__ import annotations

import ctypes

MOVERS = frozenset(
    {"reshape", "flatten", "expand_dims", "squeeze", "transpose", "swapaxes", "identity", "stop_gradient"}
    | {"_np_reshape", "_npi_reshape", "_np_squeeze", "_np_transpose", "_np_moveaxis", "_np_copy"}
)
"""Ops whose output holds the values of their input and nothing else, copies to other devices aside."""


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
