"""What GPUs would never hold: shapes, sizes and most of int32 stay in host memory there."""

from __future__ import annotations

import functools

from app.facts.kernels.kernel_table import shipped_table


@functools.lru_cache(maxsize=4096)
def kept_on_host(op: str, dtype: str) -> bool:
    """Whether TensorFlow's GPU kernel of an op leaves its only, or first, result of a type in host memory."""
    table = shipped_table()
    types = table.types_of_slot(op, 0, dtype, outputs=True)
    answer = table.look_up(op, "GPU", types)
    return answer.found and 0 in table.host_slots(answer, types, outputs=True)


@functools.lru_cache(maxsize=4096)
def takes_on_host(op: str, slot: int, dtype: str) -> bool:
    """Whether TensorFlow's GPU kernel of an op takes one of its inputs, of a type, from host memory."""
    table = shipped_table()
    types = table.types_of_slot(op, slot, dtype)
    answer = table.look_up(op, "GPU", types)
    return answer.found and slot in table.host_slots(answer, types)
