"""By which call the code had an array copied."""

from __future__ import annotations

import sys
from typing import Any

from ..trace.sites import Sites

SLICE_ASSIGNMENT = "slice assignment"
_COPY_CALLS = {
    "copyto": "copyto",
    "as_in_context": "as_in_context",
    "as_in_ctx": "as_in_ctx",
    "as_in_device": "as_in_ctx",
    "__setitem__": SLICE_ASSIGNMENT,
    "split_and_load": "split_and_load",
    "copy": "copy",
    "_init_impl": "Gluon's initialisation",
    "_load_init": "Gluon's loading of parameters",
}
"""Name of the library function that the code called -> how people know that copy."""

TO_A_CONTEXT = frozenset({"copyto", "as_in_context", "as_in_ctx"})
_OF_ONE_ARRAY = TO_A_CONTEXT | {SLICE_ASSIGNMENT}


def copy_call(sites: Sites, depth: int = 4) -> tuple[str, bool]:
    """The outermost of the library's frames below the user's that is known to copy.

    And whether the code itself called it to have a new array: then one that is there already would do.
    """
    frame: Any = sys._getframe(depth)
    found, caller = "", None
    for _ in range(8):
        if frame is None or sites.is_user(frame.f_code.co_filename):
            break
        found = _COPY_CALLS.get(frame.f_code.co_name, found)
        frame, caller = frame.f_back, frame
    if caller is None or caller.f_code.co_name not in _COPY_CALLS:
        return found, False
    return found, not hasattr(caller.f_locals.get("other"), "handle")


def copied_directly(caller: Any) -> bool:
    """Whether the library's frame that the user's called is that of a copy, and of one array."""
    return _COPY_CALLS.get(caller.f_code.co_name) in _OF_ONE_ARRAY
