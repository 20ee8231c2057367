"""What a killed process wrote to standard error while it went to a file beside its trace."""

from __future__ import annotations

import glob
import os
import re

ENDING = ".stderr"
POSITION = ".read"
"""After a file's name: says up to where it has been passed on, where it is not emptied."""
_START = rb"[IWEF]\d{4} [^\n\]]*\.(?:cc|h):\d+\]"
_LINE = rb"[^\n]*\n?"
_OPS = rb"(?:\t \[\[[^\n]*(?:\n|\Z))"
_TO_OPS = rb"(?:(?!" + _START + rb")[^\n]*\n){0,400}?" + _OPS + rb"+"
_STATUS = (
    rb"[^\n]*\n" + _TO_OPS + rb"(?:  \(\d+\) " + _TO_OPS + rb")*"
    rb"(?:\d+ successful operations\.\n\d+ derived errors ignored\.(?:\n|\Z)" + _OPS + rb"*)?"
)
"""A status to its end: its message may have several lines, and after it lines name the ops that failed."""
_VERBOSE = re.compile(
    rb"[IW]\d{4} (?:[^\n\]]* )?(?:"
    rb"executor\.cc:\d+\] (?:\w+ Compute status|\[[^\]\n]*\] Executor start aborting): " + _STATUS + rb"|"
    rb"(?:sendrecv_ops|executor|(?:simple_)?propagator_state|propagator_debug_utils)"
    rb"\.(?:cc|h):\d+\]" + _LINE + rb")"
)
"""The runtime's verbose log, which is counted and not passed on.

While it is on, an executor that an op fails in tells the status and dumps its state. That happens in right
programs too: when TensorFlow tries to fold part of a loop into a constant and cannot, it drops the error.
"""
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
            rest += own_output(b"".join(line for line in lines if not GRAPHS.search(line)))
        os.unlink(path)
    return rest


def own_output(data: bytes, quiet: bytes = b"") -> bytes:
    """What of this standard error is the program's own: not the verbose log, nor of a level in `quiet`."""
    kept = _VERBOSE.sub(b"", data)
    if quiet:
        hidden = rb"(?m)^[" + quiet + rb"]\d{4} (?:[^\n]*\bstatus: " + _STATUS + rb"|" + _LINE + rb")"
        kept = re.sub(hidden, b"", kept)
    return kept


def _passed_on(path: str) -> int:
    try:
        with open(path + POSITION, "rb") as file:
            passed_on = int(file.read() or b"0")
        os.unlink(path + POSITION)
    except (OSError, ValueError):
        return 0
    return passed_on
