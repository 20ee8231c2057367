"""What a killed process wrote to standard error while it went to a file beside its trace."""

from __future__ import annotations

import glob
import os
import re

ENDING = ".stderr"
POSITION = ".read"
"""After a file's name: says up to where it has been passed on, where it is not emptied."""
VERBOSE = re.compile(rb"(?:sendrecv_ops|executor)\.cc:\d+\]")
"""Lines of the runtime's verbose log, which are counted and not passed on."""
GRAPHS = re.compile(rb"dump_graph\.cc:\d+\] Dumped ")
"""Lines about the graphs that a server writes for the recorder."""


def take_rest(folder: str) -> bytes:
    """The lines left in `folder` that are the program's own; the files are removed.

    A process that ends by itself passes everything on; one that was killed, or that the runtime
    aborted, leaves its last words here.
    """
    rest = b""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*" + ENDING))):
        with open(path, "rb") as file:
            file.seek(_passed_on(path))
            lines = file.read().splitlines(True)
            rest += b"".join(line for line in lines if not VERBOSE.search(line) and not GRAPHS.search(line))
        os.unlink(path)
    return rest


def _passed_on(path: str) -> int:
    try:
        with open(path + POSITION, "rb") as file:
            passed_on = int(file.read() or b"0")
        os.unlink(path + POSITION)
    except (OSError, ValueError):
        return 0
    return passed_on
