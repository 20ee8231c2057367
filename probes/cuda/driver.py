"""CUDA's driver library through ctypes: which device is which. Standard library only.

Two ways in: `Driver.start` for a process of its own, which loads and initialises CUDA, and
`Driver.of_this_process` for a user's program: that asks only a library which the program has loaded by
itself, and never initialises it.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any, Optional

LIBRARY = "libcuda.so.1"

OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 2, 3, 100
DEVICE_UNAVAILABLE, NOT_SUPPORTED = 46, 801
NOT_FOUND = 500

_NAMES = {
    1: "INVALID_VALUE",
    2: "OUT_OF_MEMORY",
    3: "NOT_INITIALIZED",
    4: "DEINITIALIZED",
    34: "STUB_LIBRARY",
    46: "DEVICE_UNAVAILABLE",
    100: "NO_DEVICE",
    101: "INVALID_DEVICE",
    200: "INVALID_IMAGE",
    201: "INVALID_CONTEXT",
    214: "ECC_UNCORRECTABLE",
    217: "PEER_ACCESS_UNSUPPORTED",
    500: "NOT_FOUND",
    704: "PEER_ACCESS_ALREADY_ENABLED",
    800: "NOT_PERMITTED",
    801: "NOT_SUPPORTED",
    802: "SYSTEM_NOT_READY",
    803: "SYSTEM_DRIVER_MISMATCH",
    804: "COMPAT_NOT_SUPPORTED_ON_DEVICE",
    999: "UNKNOWN",
}
_WORDS = {
    OUT_OF_MEMORY: "not enough memory",
    34: "only a stub of the driver's library is here",
    DEVICE_UNAVAILABLE: "the card is in exclusive or prohibited mode and taken",
    NO_DEVICE: "CUDA sees no GPU",
    802: "the machine's NVSwitch fabric is not ready",
    803: "the driver and its library differ in version",
    804: "this driver does not support the card",
}


class CudaError(Exception):
    """A call of the driver failed; `code` is its CUresult."""

    def __init__(self, call: str, code: int) -> None:
        name = f"CUDA_ERROR_{_NAMES.get(code, code)}"
        plain = _WORDS.get(code)
        super().__init__(f"{plain} ({call}: {name})" if plain else f"{call} failed: {name}")
        self.code = code


class _Uuid(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_ubyte * 16),)


class Driver:
    """The loaded library."""

    def __init__(self, library: Any) -> None:
        self.library = library

    @classmethod
    def start(cls) -> Driver:
        """Load and initialise CUDA; OSError where there is no library, CudaError where it will not start."""
        driver = cls(ctypes.CDLL(LIBRARY))
        driver.call("cuInit", 0)
        return driver

    @classmethod
    def of_this_process(cls) -> Optional[Driver]:
        """The library that this process has loaded already; None where it has not."""
        try:
            return cls(ctypes.CDLL(LIBRARY, mode=os.RTLD_NOLOAD))
        except (OSError, AttributeError):
            return None

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver; CudaError where it fails or this driver lacks it."""
        try:
            function = getattr(self.library, name)
        except AttributeError:
            raise CudaError(name, NOT_FOUND) from None
        code = function(*arguments)
        if code != 0:
            raise CudaError(name, code)

    def version(self) -> str:
        """The newest CUDA that this driver runs: ``12.8``."""
        number = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(number))
        return f"{number.value // 1000}.{number.value % 1000 // 10}"

    def count(self) -> int:
        """How many devices CUDA shows to this process."""
        number = ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(number))
        return number.value

    def device(self, ordinal: int) -> ctypes.c_int:
        """The handle of CUDA's device of this number."""
        handle = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(handle), ordinal)
        return handle

    def attribute(self, ordinal: int, attribute: int) -> int:
        """A number that CUDA tells of a device (CUdevice_attribute)."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, self.device(ordinal))
        return value.value

    def name(self, ordinal: int) -> str:
        """The product's name."""
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self.device(ordinal))
        return text.value.decode("utf-8", "replace")

    def identity(self, ordinal: int) -> dict[str, str]:
        """Which card a device is: uuid and pci_bus_id as NVML writes them, those that the driver tells.

        A MIG instance has its own uuid, and its card's as parent_uuid. CudaError for no such device.
        """
        device = self.device(ordinal)
        found: dict[str, str] = {}
        card = self._uuid("cuDeviceGetUuid", device)
        own = self._uuid("cuDeviceGetUuid_v2", device) or card
        if own and card and own != card:
            found.update(uuid=f"MIG-{own}", parent_uuid=f"GPU-{card}")
        elif own:
            found["uuid"] = f"GPU-{own}"
        text = ctypes.create_string_buffer(64)
        try:
            self.call("cuDeviceGetPCIBusId", text, 64, device)
        except CudaError:
            return found
        found["pci_bus_id"] = bus_id(text.value.decode("ascii", "replace"))
        return found

    def _uuid(self, function: str, device: ctypes.c_int) -> Optional[str]:
        raw = _Uuid()
        try:
            self.call(function, ctypes.byref(raw), device)
        except CudaError:
            return None
        digits = bytes(raw.bytes).hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def bus_id(text: str) -> str:
    """A PCI bus id as NVML writes it, ``00000000:41:00.0``: CUDA's has four digits of a domain."""
    domain, _, rest = text.strip().rpartition(":")[0].rpartition(":")
    last = text.strip().rpartition(":")[2]
    return f"{domain or '0':0>8}:{rest}:{last}".upper()
