"""A field without a value says why: unsupported, denied, or NVML's error by name. Never 0, null or absent."""

from __future__ import annotations

from typing import Any

UNSUPPORTED = "unsupported"
DENIED = "denied"
ERROR = "error"

NAMES = {
    1: "UNINITIALIZED",
    2: "INVALID_ARGUMENT",
    3: "NOT_SUPPORTED",
    4: "NO_PERMISSION",
    6: "NOT_FOUND",
    7: "INSUFFICIENT_SIZE",
    8: "INSUFFICIENT_POWER",
    9: "DRIVER_NOT_LOADED",
    10: "TIMEOUT",
    11: "IRQ_ISSUE",
    12: "LIBRARY_NOT_FOUND",
    13: "FUNCTION_NOT_FOUND",
    14: "CORRUPTED_INFOROM",
    15: "GPU_IS_LOST",
    16: "RESET_REQUIRED",
    17: "OPERATING_SYSTEM",
    18: "LIB_RM_VERSION_MISMATCH",
    19: "IN_USE",
    20: "MEMORY",
    21: "NO_DATA",
    23: "INSUFFICIENT_RESOURCES",
    25: "ARGUMENT_VERSION_MISMATCH",
    26: "DEPRECATED",
    27: "NOT_READY",
    28: "GPU_NOT_FOUND",
    29: "INVALID_STATE",
    999: "UNKNOWN",
}
"""nvmlReturn_t of NVIDIA's nvml.h, without the prefix NVML_ERROR_."""

UNINITIALIZED, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 1, 3, 4, 6
DRIVER_NOT_LOADED, TIMEOUT, LIBRARY_NOT_FOUND, FUNCTION_NOT_FOUND = 9, 10, 12, 13
GPU_IS_LOST, RESET_REQUIRED, LIB_RM_VERSION_MISMATCH, UNKNOWN = 15, 16, 18, 999

_STATES = {
    NOT_SUPPORTED: UNSUPPORTED,
    FUNCTION_NOT_FOUND: UNSUPPORTED,
    25: UNSUPPORTED,
    26: UNSUPPORTED,
    NO_PERMISSION: DENIED,
}


def error_name(code: int) -> str:
    """Return ``NVML_ERROR_NOT_SUPPORTED`` for 3."""
    return f"NVML_ERROR_{NAMES.get(code, code)}"


def missing(code: int) -> dict[str, str]:
    """Return what stands in a field's place where NVML answered with this code."""
    return {"state": _STATES.get(code, ERROR), "reason": error_name(code)}


def absent(reason: str, state: str = UNSUPPORTED) -> dict[str, str]:
    """Return what stands in a field's place for a reason that is not NVML's."""
    return {"state": state, "reason": reason}


def is_missing(value: Any) -> bool:
    """Whether a field has no value, but a reason."""
    return isinstance(value, dict) and "state" in value and "reason" in value
