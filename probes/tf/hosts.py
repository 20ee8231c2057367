"""Which inputs of an op a GPU kernel keeps in host memory: shapes, axes, most of int32."""

from __future__ import annotations

from typing import Any

_NONE: frozenset[int] = frozenset()
_known: dict[tuple[str, str], frozenset[int]] = {}


def host_inputs(op_type: str, dtype: Any, device: str) -> frozenset[int]:
    """Indexes of the inputs of `op_type` that its GPU kernel for `dtype` reads from host memory.

    Asked of the runtime's own kernel registry, so it is empty for devices other than GPUs and where
    the TensorFlow build has no GPU kernels.
    """
    if "gpu" not in device:
        return _NONE
    identity = (op_type, dtype.name)
    known = _known.get(identity)
    if known is None:
        known = _known[identity] = _look_up(op_type, dtype)
    return known


def _look_up(op_type: str, dtype: Any) -> frozenset[int]:
    from tensorflow.python.framework import kernels, op_def_registry

    definition = op_def_registry.get(op_type)
    if definition is None:
        return _NONE
    names = [argument.name for argument in definition.input_arg]
    for kernel in kernels.get_registered_kernels_for_op(op_type).kernel:
        allowed = [
            value
            for constraint in kernel.constraint
            if constraint.name in ("T", "dtype")
            for value in constraint.allowed_values.list.type
        ]
        if kernel.device_type in ("GPU", "DEFAULT") and (not allowed or dtype.as_datatype_enum in allowed):
            return frozenset(names.index(name) for name in kernel.host_memory_arg if name in names)
    return _NONE
