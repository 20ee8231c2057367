"""Every time Python takes a tensor's value: numpy(), float(), bool(), print and their kin."""

from __future__ import annotations

import functools
import sys
from typing import Any

from ..trace.hop import HOST, hop_fields, is_host
from ..trace.pulled import PulledArrays
from ..trace.recording import Recording, clock
from . import buffers
from .names import elsewhere, short_device, tensor_bytes

_KINDS = {
    "numpy": "numpy",
    "__float__": "float",
    "__int__": "int",
    "__bool__": "bool",
    "__index__": "index",
    "__complex__": "complex",
    "__array__": "array",
    "__format__": "format",
    "numpy_text": "print",
    "__str__": "print",
    "__repr__": "print",
    "__len__": "len",
    "__reduce__": "pickle",
}


def install(recording: Recording) -> None:
    """Wrap the one method, and the one C slot, through which an eager tensor's value reaches Python."""
    import numpy as np
    from tensorflow.python.framework import ops

    base: Any = getattr(ops, "_EagerTensorBase", None) or ops.EagerTensor.__mro__[1]
    original = base._numpy
    known: dict[Any, int] = {}

    def taken(tensor: Any, kind: str, dur: int) -> None:
        device = short_device(tensor.backing_device)
        location = recording.sites.current(2)
        identity = ("sync", device, kind, location, tensor._datatype_enum(), tensor._shape_tuple())
        key = known.get(identity)
        if key is None:
            size = tensor_bytes(tensor)
            key = known[identity] = recording.key(
                identity,
                "sync",
                {"device": device, "kind": kind, "loc": location, "bytes": size, "basis": "measured"},
            )
        recording.happened(key, "sync", dur)
        if not is_host(device) or elsewhere(device):
            _pull(recording, tensor, device, kind, location, dur)

    def _numpy(self: Any) -> Any:
        start = clock()
        value = original(self)
        taken(self, _KINDS.get(sys._getframe(1).f_code.co_name, "other"), clock() - start)
        return value

    base._numpy = _numpy
    take, pulled = base.numpy, PulledArrays.of(recording)

    def numpy(self: Any) -> Any:
        array = take(self)
        if type(array) is not np.ndarray:
            return array
        device = short_device(self.backing_device)
        if not is_host(device) or elsewhere(device):
            pulled.took(array, device, recording.sites.current())
        return array

    base.numpy = functools.wraps(take)(numpy)
    buffers.install(recording, ops.EagerTensor, lambda tensor, dur: taken(tensor, "array", dur))


def _pull(recording: Recording, tensor: Any, device: str, kind: str, location: int, dur: int) -> None:
    mark = getattr(tensor, "_hopscope", None) or ("?", 0, "", "", "")
    shape = tuple(tensor.shape)
    identity = ("pull", device, kind, location, mark[0], mark[1], tensor.dtype, shape)
    key = recording.known_key(identity)
    if key is None:
        fields = hop_fields(
            device,
            HOST,
            op="Python",
            loc=location,
            producer=mark[2],
            producer_op=mark[0],
            producer_loc=mark[1],
            consumers=[kind],
            size=tensor_bytes(tensor),
            dtype=tensor.dtype.name,
            shape=shape,
            kind="pull",
            producer_requested=mark[3],
            facts={"sync": kind},
        )
        key = recording.key(identity, "hop", fields)
    recording.happened(key, "hop", dur)
