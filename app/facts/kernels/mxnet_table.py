"""Which ops MXNet computes on the host only, and raises for on a GPU.

`probes/mx/kernel_registry.py` made the file from a CUDA build.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path

from runners.errors import HopscopeError

FILE = Path(__file__).with_name("mxnet.json")


@dataclasses.dataclass(frozen=True)
class HostOnly:
    """The ops without a GPU kernel of any type."""

    ops: frozenset[str]
    source: str
    """Whose: ``MXNet 1.9.1's CUDA build``."""


@functools.lru_cache(maxsize=1)
def host_only() -> HostOnly:
    """The project's own table; HopscopeError where the file is damaged or missing."""
    try:
        data = json.loads(FILE.read_text(encoding="utf-8"))
        return HostOnly(frozenset(map(str, data["host_only"])), str(data["source"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HopscopeError(f"the kernel table {FILE} cannot be read: {error}; make it anew") from None
