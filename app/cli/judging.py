"""Reads the recordings of a program's blocks, one after the other, for the process that records them.

It is asked over its standard input, a line of JSON each: ``{"folder": PATH}``, and answers with one on
standard output: ``{"report": ..}`` or ``{"error": ..}``. It ends with its input, and with the process that
started it, however that ends.
"""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Any, BinaryIO

from runners.errors import HopscopeError

_LOOK_S = 2.0
"""How often it looks whether the process that started it is there: a child of that may hold the pipe."""
_PIECE = 1 << 16


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer until there are no more requests."""
    from app.reports.run_report import run_report  # takes long: meanwhile the first block runs

    owner, waiting = os.getppid(), b""
    while os.getppid() == owner:
        if not select.select([requests], [], [], _LOOK_S)[0]:
            continue
        piece = os.read(requests.fileno(), _PIECE)
        if not piece:
            return
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in lines:
            answers.write(json.dumps(_answer(line, run_report)).encode() + b"\n")
            answers.flush()


def _answer(line: bytes, run_report: Any) -> dict[str, Any]:
    try:
        # Most of them are deleted at once: they are read as they are.
        return {"report": run_report(Path(json.loads(line)["folder"]), seal=False)}
    except HopscopeError as error:
        return {"error": str(error)}
    except Exception as error:  # noqa: BLE001 - the next request may go well, and who asked is told
        return {"error": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Serve the process that started this one."""
    # What else is printed must not stand among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        serve(sys.stdin.buffer, answers)
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)  # who asked is gone
