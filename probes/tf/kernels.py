"""Whether an op has a kernel for the kind of device and the types that were asked for; else it is moved."""

from __future__ import annotations

from typing import Any, Literal, Optional

from ..trace.schema import HopFacts
from .kernel_registry import own_table, type_name
from .kernel_table import Types, of_the_host
from .names import short_device

_NO_TYPES: dict[str, str] = {}
Role = Literal["", "producer_"]
"""Which of a hop's two ops: the consumer or the producer."""


def kernel_facts(
    role: Role,
    op_type: str,
    requested: str,
    assigned: str,
    types: Types,
    default: str = "",
) -> HopFacts:
    """The evidence that an op ran elsewhere for want of a kernel, {} where it did not.

    `default` is the GPU that ops go to for which nobody asked for a device; '' where they go to the host.
    """
    if not requested and not of_the_host(op_type):
        requested = default
    missing = missing_kernel(op_type, requested, assigned, types)
    if not missing:
        return {}
    source = own_table().source
    if role:
        return {"producer_no_kernel": missing, "producer_kernel_from": source}
    return {"no_kernel": missing, "kernel_from": source}


def default_gpu() -> str:
    """The GPU that an op outside of functions goes to for which nobody asked for a device; '' without one."""
    return "gpu:0" if "gpu:0" in _devices() else ""


def missing_kernel(op_type: str, requested: str, assigned: str, types: Optional[Types] = None) -> str:
    """Which kernels there are instead, where the op has none for the device `requested`; else ''.

    Both devices as `short_device` writes them. Of `types` that are not known nothing is concluded: then
    only a kind of device without any kernel is told. A device that does not exist is another matter.
    """
    kind = _kind(requested)
    if not kind or kind == _kind(assigned) or not assigned or requested not in _devices():
        return ""
    answer = own_table().look_up(op_type, kind, types or _NO_TYPES)
    return answer.words if answer.missing else ""


def types_of_input(op_type: str, slot: int, dtype: str) -> dict[str, str]:
    """What the type of one input of an op tells of its attributes."""
    return own_table().types_of_slot(op_type, slot, dtype)


def types_of_output(op_type: str, dtype: str) -> dict[str, str]:
    """What the type of an output tells, whichever it is: nothing where an op has outputs of several types."""
    table = own_table()
    known = table.ops.get(op_type)
    if known is None or len({argument.type for argument in known.outputs}) != 1:
        return {}
    return table.types_of_slot(op_type, 0, dtype, outputs=True)


def types_of_node(node: Any) -> dict[str, Any]:
    """All that a node's attributes say of types and numbers of tensors."""
    types: dict[str, Any] = {}
    for name, value in node.attr.items():
        which = value.WhichOneof("value")
        if which == "type":
            types[name] = type_name(value.type) or "?"
        elif which == "i":
            types[name] = str(value.i)
        elif which == "s" and len(value.s) < 40:
            types[name] = value.s.decode("ascii", "replace")
        elif which == "list" and value.list.type:
            types[name] = [type_name(one) or "?" for one in value.list.type]
    return types


def _kind(device: str) -> str:
    return device.rpartition("/")[2].partition(":")[0].upper()


def _devices() -> set[str]:
    from tensorflow.python.eager import context

    running: Any = context.context()
    return {short_device(device.name) for device in running.list_logical_devices()}
