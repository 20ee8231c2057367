"""Running a command with its output in a log, and following that line by line. Standard library only."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

_POLL_S = 0.1
_STOP_GRACE_S = 10.0


def follow(
    argv: list[str], environ: Mapping[str, str], log: Path, held: int, heard: Callable[[list[str]], None]
) -> int:
    """Run `argv`, its output appended to `log`, and return its exit status.

    `heard` gets the lines that have come, ten times a second, also when there are none. The command keeps
    the descriptor `held` open. Whatever interrupts this ends the command too.
    """
    with log.open("a") as output, log.open(errors="replace") as tail:
        tail.seek(0, os.SEEK_END)
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environ,
            pass_fds=[held],
        )
        try:
            rest = ""
            while process.returncode is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
                *lines, rest = (rest + tail.read()).split("\n")
                heard(lines if process.returncode is None else [*lines, rest])
        except BaseException:
            _end(process)
            raise
    return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop a command that is no longer wanted, so that it does not go on behind our back."""
    process.terminate()
    try:
        process.wait(_STOP_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
