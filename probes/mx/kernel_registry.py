"""Reads, of a CUDA build of MXNet, which ops it can compute on the host only, and writes them down.

    python -m probes.mx.kernel_registry LIBMXNET.so FILE.json

MXNet has no call that tells it: an op's kernels are in tables that its library keeps by attribute
(``FCompute<gpu>`` and others). They are read where nnvm/op.h of MXNet 1.9.1 has them: `Op::GetAttrMap` gives
a table, a vector with an op's function, and whether it was set, at the op's number. Neither a GPU nor CUDA
is needed, only something that goes by the names of CUDA's libraries, so that the library can be loaded.
"""

from __future__ import annotations

import ctypes
import json
import struct
import sys
from typing import Any, Optional

_FORMS = ("FCompute", "FComputeEx", "FStatefulCompute", "FStatefulComputeEx")
_ENTRY = 40
"""Bytes of a table's entry: a std::function of 32, then a number, 0 where it was not set."""
_MOST_OPS = 10_000


class Registry:
    """The ops of one libmxnet.so and which devices they have kernels for."""

    def __init__(self, path: str) -> None:
        """OSError where the library cannot be loaded, ValueError where it is not laid out as expected."""
        self._library: Any = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self._library._ZN4nnvm2Op10GetAttrMapERKSs.restype = ctypes.c_void_p
        self._numbers = self._read_numbers()
        self._tables = {
            (form, kind): self._table(f"{form}<{kind}>") for form in _FORMS for kind in ("cpu", "gpu")
        }

    @property
    def names(self) -> list[str]:
        """Of all ops, aliases included."""
        return sorted(self._numbers)

    def has(self, op: str, kind: str) -> bool:
        """Whether an op has a kernel for ``cpu`` or ``gpu``."""
        number = self._numbers[op]
        tables = (self._tables[form, kind] for form in _FORMS)
        return any(number < len(table) and table[number] for table in tables)

    def host_only(self) -> list[str]:
        """The ops with kernels for the host and none for a GPU."""
        return [op for op in self.names if self.has(op, "cpu") and not self.has(op, "gpu")]

    def _read_numbers(self) -> dict[str, int]:
        count, names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
        self._library.NNListAllOpNames(ctypes.byref(count), ctypes.byref(names))
        ops: dict[str, int] = {}
        for at in range(count.value):
            handle = ctypes.c_void_p()
            self._library.NNGetOpHandle(names[at], ctypes.byref(handle))
            ops[(names[at] or b"").decode()] = handle.value or 0
        offset = _offset_of_number(set(ops.values()))
        return {name: _int(address + offset) for name, address in ops.items()}

    def _table(self, attribute: str) -> list[bool]:
        held = _old_string(attribute)
        found: Optional[int] = self._library._ZN4nnvm2Op10GetAttrMapERKSs(ctypes.byref(held[1]))
        if not found or not _word(found):
            return []
        # The any that is given has a type first, then where the table is; that has its name first.
        table = _word(found + 8)
        begin, end = _word(table + 8), _word(table + 16)
        return [_int(entry + 32) != 0 for entry in range(begin, end, _ENTRY)]


def _offset_of_number(addresses: set[int]) -> int:
    """Where an op has its own number: the one place that differs for all, and is small."""
    for offset in range(40, 260, 4):
        numbers = {_int(address + offset) for address in addresses}
        if len(numbers) == len(addresses) and min(numbers) >= 0 and max(numbers) < _MOST_OPS:
            return offset
    raise ValueError("this library keeps its ops otherwise than MXNet 1.9.1 does")


def _old_string(text: str) -> tuple[Any, ctypes.c_void_p]:
    """A std::string as GCC had it before version 5, which MXNet's wheels are built for, and what it is in."""
    data = text.encode()
    held = ctypes.create_string_buffer(struct.pack("<QQii", len(data), len(data), -1, 0) + data + b"\0")
    return held, ctypes.c_void_p(ctypes.addressof(held) + 24)


def _word(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _int(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def main() -> None:
    """Write the ops to the file that is named."""
    if len(sys.argv) != 3:
        raise SystemExit("usage: python -m probes.mx.kernel_registry LIBMXNET.so FILE.json")
    registry = Registry(sys.argv[1])
    found = registry.host_only()
    if not any(registry.has(op, "gpu") for op in ("FullyConnected", "Convolution")):
        raise SystemExit(f"{sys.argv[1]} has no GPU kernels: take a CUDA build")
    version = ctypes.c_int()
    registry._library.MXGetVersion(ctypes.byref(version))
    number = ".".join(str(version.value // 10**power % 100) for power in (4, 2, 0))
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(
            {"version": 1, "source": f"MXNet {number}'s CUDA build", "host_only": found}, file, indent=0
        )
        file.write("\n")
    print(f"MXNet {number}: {len(found)} of {len(registry.names)} ops on the host only")


if __name__ == "__main__":
    main()
