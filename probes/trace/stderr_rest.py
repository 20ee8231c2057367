"""What a killed process wrote to standard error while it went to a file beside its trace."""

from __future__ import annotations

import glob
import os
import re

ENDING = ".stderr"
VERBOSE = re.compile(rb"(?:sendrecv_ops|executor)\.cc:\d+\]")
"""Lines of the runtime's verbose log, which are counted and not passed on."""


def take_rest(folder: str) -> bytes:
    """The lines left in `folder` that are the program's own; the files are removed.

    A process that ends by itself passes everything on; one that was killed, or that the runtime
    aborted, leaves its last words here.
    """
    rest = b""
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*" + ENDING))):
        with open(path, "rb") as file:
            rest += b"".join(line for line in file.read().splitlines(True) if not VERBOSE.search(line))
        os.unlink(path)
    return rest
