"""What a process could not record at all, kept where there is room even on a full disk.

Whoever makes a run's folder reserves a page of it for this file. Its size is what has been written, so that
processes append to it one after the other.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os

from .. import private_files

NAME = "refused"
BYTES = 4096
_KEEP_SIZE = 1


def reserve(folder: str) -> None:
    """Make the file in a trace folder and give it its blocks, where the file system can."""
    descriptor = private_files.open_file(os.path.join(folder, NAME), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        ctypes.CDLL(None).fallocate(
            ctypes.c_int(descriptor), ctypes.c_int(_KEEP_SIZE), ctypes.c_long(0), ctypes.c_long(BYTES)
        )
    finally:
        os.close(descriptor)


def note(folder: str, what: str, why: str) -> None:
    """Leave word, as a record of a trace, of something that is not recorded; nothing where that fails."""
    line = json.dumps(["U", what, 1, why]).encode("ascii") + b"\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with contextlib.suppress(OSError):
        descriptor = os.open(os.path.join(folder, NAME), flags)
        try:
            if os.fstat(descriptor).st_size + len(line) <= BYTES:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
