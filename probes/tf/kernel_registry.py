"""Reads the kernel registry of the TensorFlow that runs this, and writes it as a table.

A CUDA build registers its GPU kernels on machines without a GPU too. To make the table that the project
ships, from the project's folder, with the Python of an environment that has a CUDA build:

    python -m probes.tf.kernel_registry app/facts/kernels/tensorflow.json.gz
"""

from __future__ import annotations

import functools
import gzip
import json
import sys
from typing import Any, Optional

from .kernel_table import Argument, Kernel, KernelTable, OpKernels, packed

KINDS = ("CPU", "GPU", "DEFAULT")
"""The kinds of devices that are kept in the table."""
XLA_KIND = "XLA_GPU_JIT"
"""What XLA registers an op's kernel for that it compiles for GPUs."""


class _Ops(dict[str, OpKernels]):
    """Reads an op's kernels when it is first asked for: the whole takes a second."""

    def get(self, op: str, default: Any = None) -> Any:
        if op not in self:
            self[op] = read_op(op)
        return self[op]


@functools.lru_cache(maxsize=1)
def own_table() -> KernelTable:
    """The registry of the TensorFlow of this process."""
    return KernelTable(_Ops(), source())


def source() -> str:
    """Whose registry it is: ``TensorFlow 2.21.0, CUDA 12.5.1``."""
    import tensorflow as tf

    cuda = tf.sysconfig.get_build_info().get("cuda_version")
    return f"TensorFlow {tf.__version__}, " + (f"CUDA {cuda}" if has_gpu_kernels() else "without GPUs")


def has_gpu_kernels() -> bool:
    """Whether the build has kernels for GPUs, so that its registry answers for them."""
    import tensorflow as tf

    return bool(tf.test.is_built_with_gpu_support())


def read_op(op: str) -> OpKernels:
    """The registered kernels of one op, with the names of its arguments."""
    from tensorflow.python.framework import kernels

    return _op_kernels(op, kernels.get_registered_kernels_for_op(op).kernel)


def whole_table() -> dict[str, Any]:
    """All of the registry that `KINDS` names, as plain data; of one build always the same."""
    import tensorflow as tf
    from tensorflow.python.framework import kernels

    by_op: dict[str, list[Any]] = {}
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type in KINDS:
            by_op.setdefault(kernel.op, []).append(kernel)
    build = tf.sysconfig.get_build_info()
    return {
        "version": 1,
        "framework": "tensorflow",
        "framework_version": tf.__version__,
        "source": source(),
        "build": {name: build[name] for name in ("cuda_version", "cudnn_version") if build.get(name)},
        "ops": {op: packed(_op_kernels(op, by_op[op])) for op in sorted(by_op)},
        "xla": xla_ops(),
    }


def xla_ops() -> list[str]:
    """The ops that XLA compiles for a GPU; none before TensorFlow has compiled anything in this process.

    It registers them with its first compilation, on a machine without a GPU too.
    """
    from tensorflow.python.framework import kernels

    registered = kernels.get_all_registered_kernels().kernel
    return sorted({kernel.op for kernel in registered if kernel.device_type == XLA_KIND})


def _register_xla() -> None:
    import tensorflow as tf

    tf.function(lambda: tf.zeros([]), jit_compile=True)()


def _op_kernels(op: str, registered: Any) -> OpKernels:
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(op)
    inputs = tuple(map(_argument, definition.input_arg)) if definition is not None else ()
    outputs = tuple(map(_argument, definition.output_arg)) if definition is not None else ()
    return OpKernels(inputs, outputs, tuple(map(_kernel, registered)))


def _argument(argument: Any) -> Argument:
    if argument.type_list_attr:
        return Argument(argument.name, "*" + argument.type_list_attr)
    kind = argument.type_attr or "=" + (type_name(argument.type) or "?")
    return Argument(argument.name, kind, argument.number_attr)


def _kernel(registered: Any) -> Kernel:
    allowed: dict[str, frozenset[str]] = {}
    for constraint in registered.constraint:
        values = constraint.allowed_values.list
        names = [name for name in map(type_name, values.type) if name]
        allowed[constraint.name] = frozenset(
            [*names, *(text.decode() for text in values.s), *map(str, values.i), *map(str, values.b)]
        )
    host = tuple(sorted(registered.host_memory_arg))
    return Kernel(registered.device_type, allowed, host, registered.priority, registered.label)


@functools.lru_cache(maxsize=256)
def type_name(number: int) -> Optional[str]:
    """``float32`` for a DataType's number; that of a reference to one for a reference; None for no type."""
    from tensorflow.python.framework import dtypes

    try:
        return str(dtypes.as_dtype(number).base_dtype.name)
    except TypeError:
        return None


def write_table(path: str, table: Optional[dict[str, Any]] = None) -> None:
    """Write a table, by default this build's, to a gzipped JSON file; of one build always the same bytes."""
    text = json.dumps(table or whole_table(), separators=(",", ":"))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as compressed:  # no date in it
        compressed.write(text.encode())


def main() -> None:
    """Write the table to the file that is named."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m probes.tf.kernel_registry FILE.json.gz")
    _register_xla()
    table = whole_table()
    if not has_gpu_kernels():
        raise SystemExit(f"{table['source']} has no GPU kernels in its registry: take a CUDA build")
    write_table(sys.argv[1], table)
    print(f"{table['source']}: {len(table['ops'])} ops")


if __name__ == "__main__":
    main()
