"""Which inputs of an op a GPU kernel keeps in host memory: shapes, axes, most of int32."""

from __future__ import annotations

from typing import Any

from .kernel_registry import own_table

_known: dict[tuple[str, str, int], bool] = {}


def on_host(op_type: str, slot: int, dtype: Any, device: str) -> bool:
    """Whether the GPU kernel of `op_type` reads its input number `slot`, of this type, from host memory.

    Asked of the runtime's own kernel registry, so it is False for devices other than GPUs and where
    the TensorFlow build has no GPU kernels.
    """
    if "gpu" not in device:
        return False
    identity = (op_type, dtype.name, slot)
    known = _known.get(identity)
    if known is None:
        table = own_table()
        types = table.types_of_slot(op_type, slot, dtype.name)
        answer = table.look_up(op_type, "GPU", types)
        known = _known[identity] = slot in table.host_slots(answer, types)
    return known
