"""How MXNet's contexts are named in a recording: one object a name, so that devices compare by identity."""

from __future__ import annotations

import sys
from typing import Any

from ..trace.hop import HOST

_KINDS = {1: "cpu", 2: "gpu", 3: "host", 5: "host"}
"""Context types: cpu_pinned and cpu_shared are the host's memory, allocated in another way."""
_names: dict[tuple[int, int], str] = {}


def device_name(kind: int, number: int) -> str:
    """``cpu:1`` for a context's type and number; host memory of any sort is ``cpu:0``.

    Always the same object for one device, so that devices compare by identity.
    """
    known = _names.get((kind, number))
    if known is None:
        word = _KINDS.get(kind, "cpu")
        host = word == "host" or (word, number) == ("cpu", 0)
        known = _names[(kind, number)] = HOST if host else sys.intern(f"{word}:{number}")
    return known


def context_name(context: Any) -> str:
    """``gpu:1`` for a Context."""
    return device_name(context.device_typeid, context.device_id)
