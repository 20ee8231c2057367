"""Whether an op has a kernel for the kind of device that the code asked for: without one it is moved."""

from __future__ import annotations

from typing import Any

from .names import short_device

_ANY = "DEFAULT"
"""Kernels of this kind serve every kind of device."""
_kinds: dict[str, frozenset[str]] = {}


def missing_kernel(op_type: str, requested: str, assigned: str) -> str:
    """Which kernels there are instead, where the op has none for the device `requested`; else ''.

    Both devices as `short_device` writes them. Nothing is said of an op that has a kernel for some types of
    numbers only: the table of those is not looked at. A device that does not exist is another matter.
    """
    kind = _kind(requested)
    if not kind or kind == _kind(assigned) or not assigned or requested not in _devices():
        return ""
    kinds = _kinds_of(op_type)
    if not kinds or kinds & {kind, _ANY}:
        return ""
    return f"{op_type} has kernels for {' and '.join(sorted(kinds))}"


def _kind(device: str) -> str:
    return device.rpartition("/")[2].partition(":")[0].upper()


def _kinds_of(op_type: str) -> frozenset[str]:
    """The kinds of devices that the runtime's registry has the op for, those of compilers left out."""
    known = _kinds.get(op_type)
    if known is None:
        from tensorflow.python.framework import kernels

        registered = kernels.get_registered_kernels_for_op(op_type).kernel
        found = (kernel.device_type for kernel in registered)
        known = _kinds[op_type] = frozenset(kind for kind in found if not kind.endswith("_JIT"))
    return known


def _devices() -> set[str]:
    from tensorflow.python.eager import context

    running: Any = context.context()
    return {short_device(device.name) for device in running.list_logical_devices()}
