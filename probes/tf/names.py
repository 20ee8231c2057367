"""TensorFlow's device names in the words of this project, and sizes of tensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Optional

_FULL = re.compile(
    r"(?:/job:(?P<job>[^/]+))?(?:/replica:\d+)?(?:/task:(?P<task>\d+))?(?:/device:)?"
    r"/?(?P<type>(?!(?:job|replica|task):)[A-Za-z_]+):(?P<index>\d+|\*)$"
)
_short: dict[str, str] = {"": ""}


def short_device(name: Optional[str]) -> str:
    """``/job:localhost/replica:0/task:0/device:GPU:1`` -> ``gpu:1``; a worker's keep ``worker:1/``.

    '' for no device, and for a scope that names only a job.
    """
    if name is None:
        return ""
    known = _short.get(name)
    if known is None:
        known = _short[name] = _shorten(name)
    return known


def _shorten(name: str) -> str:
    match = _FULL.match(name if name.startswith("/") else "/device:" + name)
    if match is None:
        return ""
    device = f"{match['type'].lower()}:{match['index']}"
    if match["job"] in (None, "localhost"):
        return device
    return f"{match['job']}:{match['task'] or 0}/{device}"


def elsewhere(device: str) -> bool:
    """Whether a short name is that of another process's device."""
    if "/" not in device:
        return False
    from tensorflow.python.eager import context

    server = getattr(context.context(), "_server_def", None)
    return server is None or not device.startswith(f"{server.job_name}:{server.task_index}/")


def tensor_bytes(tensor: Any) -> Optional[int]:
    """Bytes of an eager tensor's data; None where its type has no fixed size."""
    size = tensor.dtype.size
    if tensor.dtype.is_numpy_compatible and size and tensor.dtype.name != "string":
        return int(tensor._num_elements()) * int(size)
    return None


def dtype_name(number: int) -> str:
    """The name of a DataType, by its number; '' for none."""
    from tensorflow.python.framework import dtypes

    return str(dtypes.as_dtype(number).base_dtype.name) if number else ""


def shape_text(dims: Optional[Sequence[Optional[int]]]) -> str:
    """``64x256``; ``?`` for an unknown extent; '' for a scalar; ``?...`` for an unknown rank."""
    if dims is None:
        return "?..."
    return "x".join("?" if d is None or d < 0 else str(d) for d in dims)
