"""Keeps what TensorFlow says about each graph that it writes out of a server's standard error.

It tells every file in a line (dump_graph.cc), at a level that cannot be hidden alone. Where that level is
shown, standard error goes to a file beside the trace, and all other lines are passed on four times a second;
what a killed process leaves there the supervisor passes on (stderr_rest.py).
"""

from __future__ import annotations

import os

from ..trace.recording import Recording
from ..trace.redirected import Redirected
from ..trace.stderr_rest import ENDING, GRAPHS, POSITION


def keep_quiet(recording: Recording) -> None:
    """Begin, unless the user's TF_CPP_MIN_LOG_LEVEL hides the lines anyway."""
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0").strip() not in ("", "0"):
        return
    try:
        error = Redirected(os.path.join(recording.folder, f"{os.getpid()}-server{ENDING}"))
        position = _Position(error.path + POSITION)
    except OSError:
        return
    if not error.begin():
        return
    read = 0

    def pass_on() -> None:
        nonlocal read
        if not error.usable():
            return
        data = error.read(read, error.size() - read)
        whole = data if recording.ending else data[: data.rfind(b"\n") + 1]
        read += len(whole)
        position.write(read)
        error.write(b"".join(line for line in whole.splitlines(True) if not GRAPHS.search(line)))
        if recording.ending:
            error.end()
            os.unlink(error.path)
            os.unlink(position.path)

    recording.tickers.append(pass_on)


class _Position:
    """A file that says how much has been passed on, for who comes after a kill."""

    def __init__(self, path: str) -> None:
        self.path = path

    def write(self, read: int) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.write(file, b"%020d" % read)
        os.close(file)
