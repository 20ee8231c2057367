"""The program's standard input: a file or pipe is handed over as it is, a terminal is relayed.

The program is in a session of its own, where this terminal's keys and signals do not reach it.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
from collections.abc import Iterator

POLL_MS = 200
LINE_BYTES = 4096


@contextlib.contextmanager
def program_input() -> Iterator[int | None]:
    """Give the descriptor that a program's input should be, None for an empty one.

    It is for launching only, and may be closed afterwards; the relaying goes on in a thread.
    """
    # Where standard input was closed, descriptor 0 is free, or something else by now.
    if sys.stdin is None:
        yield None
        return
    if not os.isatty(0):
        yield 0
        return
    readable, writable = os.pipe()
    threading.Thread(target=_relay, args=(0, writable), name="stdin-relay", daemon=True).start()
    try:
        yield readable
    finally:
        os.close(readable)


def _relay(source: int, target: int) -> None:
    """Copy lines from a terminal to a pipe until its end, or until nobody reads the pipe."""
    waiting = select.poll()
    # Of the pipe only its breaking is of interest, which poll always tells.
    waiting.register(target, 0)
    with contextlib.suppress(OSError):
        while True:
            # In the background, reading the terminal would stop this whole process.
            if os.tcgetpgrp(source) == os.getpgrp():
                waiting.register(source, select.POLLIN)
            else:
                with contextlib.suppress(KeyError):
                    waiting.unregister(source)
            ready = dict(waiting.poll(POLL_MS))
            if target in ready:
                break
            if source in ready:
                piece = os.read(source, LINE_BYTES)
                if not piece:
                    break
                os.write(target, piece)
    with contextlib.suppress(OSError):
        os.close(target)
