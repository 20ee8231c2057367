"""The kernel table that comes with the project, for builds whose own registry has no GPU kernels.

`probes/tf/kernel_registry.py` makes it from a CUDA build.
"""

from __future__ import annotations

import functools
import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from probes.tf.kernel_table import KernelTable, OpKernels, of_the_host, unpacked
from runners.errors import HopscopeError
from runners.runs import run_files

_MOST_BYTES = 256 << 20
FILE = Path(__file__).with_name("tensorflow.json.gz")


def read_table(path: Path) -> KernelTable:
    """Read a table that the script wrote; HopscopeError where the file is damaged or missing."""
    try:
        # One may come with a run from somebody else.
        with (
            run_files.open_file(path.parent.resolve(), path.name) as packed,
            gzip.GzipFile(fileobj=packed) as file,
        ):
            data: Any = json.loads(file.read(_MOST_BYTES))
        ops: Mapping[str, Any] = data["ops"]
        return KernelTable(_Ops(ops), str(data["source"]), frozenset(map(str, data.get("xla") or ())))
    except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        raise HopscopeError(f"the kernel table {path} cannot be read: {error}; make it anew") from None


@functools.lru_cache(maxsize=1)
def shipped_table() -> KernelTable:
    """The project's own table."""
    table = read_table(FILE)
    return KernelTable(table.ops, f"the kernel table of {table.source}", table.xla)


def without_gpu_kernel(op: str) -> str:
    """The clause of an op that has no GPU kernel, whatever its types; '' where there may be one."""
    if of_the_host(op):
        return ""
    answer = shipped_table().look_up(op, "GPU", {})
    return answer.words if answer.outcome == "no-kernel" else ""


@functools.lru_cache(maxsize=4096)
def takes_on_host(op: str, slot: int, dtype: str, outputs: bool = False) -> bool:
    """Whether TensorFlow's GPU kernel of an op takes one of its inputs, of a type, from host memory.

    With `outputs`, whether it leaves one of its results there, as it does with shapes and most of int32.
    """
    table = shipped_table()
    types = table.types_of_slot(op, slot, dtype, outputs)
    answer = table.look_up(op, "GPU", types)
    return answer.found and slot in table.host_slots(answer, types, outputs)


def kept_on_host(op: str, dtype: str) -> bool:
    """Whether the kernel leaves its only, or first, result of a type in host memory."""
    return takes_on_host(op, 0, dtype, outputs=True)


class _Ops(Mapping[str, OpKernels]):
    """Unpacks an op when it is asked for: most are not."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._made: dict[str, OpKernels] = {}

    def __getitem__(self, op: str) -> OpKernels:
        if op not in self._made:
            self._made[op] = unpacked(self._data[op])
        return self._made[op]

    def __iter__(self) -> Any:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)
