"""Keeps what TensorFlow says about each graph that it writes out of a server's standard error.

It tells every file in a line (dump_graph.cc), at a level that cannot be hidden alone. Where that level is
shown, standard error goes to a file beside the trace, and all other lines are passed on four times a second;
what a killed process leaves there the supervisor passes on (stderr_rest.py).
"""

from __future__ import annotations

import os

from ..trace.recording import Recording
from ..trace.stderr_rest import ENDING, GRAPHS, POSITION


def keep_quiet(recording: Recording) -> None:
    """Begin, unless the user's TF_CPP_MIN_LOG_LEVEL hides the lines anyway."""
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0").strip() not in ("", "0"):
        return
    path = os.path.join(recording.folder, f"{os.getpid()}-server{ENDING}")
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o644)
    position = os.open(path + POSITION, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    saved = os.dup(2)
    os.set_inheritable(saved, False)
    os.dup2(file, 2)
    read = 0

    def pass_on() -> None:
        nonlocal read
        if recording.ending:
            os.dup2(saved, 2)
        data = os.pread(file, os.fstat(file).st_size - read, read)
        whole = data if recording.ending else data[: data.rfind(b"\n") + 1]
        read += len(whole)
        os.pwrite(position, b"%020d" % read, 0)
        kept = b"".join(line for line in whole.splitlines(True) if not GRAPHS.search(line))
        if kept:
            os.write(saved, kept)
        if recording.ending:
            os.unlink(path)
            os.unlink(path + POSITION)

    recording.tickers.append(pass_on)
