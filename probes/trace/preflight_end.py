"""Ends the process of a pre-flight that was cut short, whatever the framework's threads are at then.

Python ends while other threads run. One that comes back from the framework after that is ended by force,
inside C++ functions that do not expect it, and these abort the process. So the last thing done at exit, after
all that was registered, is to leave at once.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import os
import sys

_cut_short: list[int] = []
"""The process in which the script was ended; children that it forks end as they do."""


def prepare() -> None:
    """Be the last at exit: to be called before the script, and so before anything else is registered."""
    atexit.register(_leave)


def cut_short() -> None:
    """The script of this process is ended now, not by itself."""
    _cut_short.append(os.getpid())


def _leave() -> None:
    if os.getpid() not in _cut_short:
        return
    for file in gc.get_objects():
        if isinstance(file, io.IOBase):
            with contextlib.suppress(Exception):  # closed, or of no use any more
                file.flush()
    failed = getattr(sys, "last_value", None) is not None
    os._exit(1 if failed else 0)
