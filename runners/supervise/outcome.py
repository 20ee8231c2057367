"""How a run ended, in words."""

from __future__ import annotations

import dataclasses
import os
import signal
from collections.abc import Sequence
from typing import Any

from runners.runs.processes import describe_signal

DESERTED = ", while others still needed it"
"""Follows the end, with status 0, of a process that was to serve until it is asked to end."""


def describe_end(wait_status: int | None, member: str | None = None) -> str:
    """Return how a process ended, by its status as os.waitpid gives it; `member` becomes the subject."""
    who = "" if member is None else f"{member} "
    if wait_status is None:
        return "its end was not seen" if member is None else f"the end of {member} was not seen"
    if not os.WIFSIGNALED(wait_status):
        return f"{who}exited with status {os.WEXITSTATUS(wait_status)}"
    core = ", core dumped" if os.WCOREDUMP(wait_status) else ""
    was = "was " if member else ""
    return f"{who}{was}killed by {describe_signal(os.WTERMSIG(wait_status))}{core}"


@dataclasses.dataclass(frozen=True)
class End:
    """What is known of how a run ended."""

    wait_status: int | None
    """The program's, as os.waitpid gives it; None when nobody saw it."""
    stopped: bool
    """Whether somebody asked for the end before it came."""
    killed_after: float | None = None
    """Seconds of grace after which KILL was sent; 0: at once."""
    leftovers: int = 0
    """How many processes it left behind had to be ended."""
    member: str | None = None
    """Of several processes the one that the status is of."""
    deserted: bool = False
    """Whether it ended while others needed it, so that 0 is a failure too."""
    limit_s: float | None = None
    """The time limit that it was ended at."""
    remarks: Sequence[str] = ()
    """What else is to be said."""


def judge_end(end: End) -> dict[str, Any]:
    """Return the state, exit_code, signal and reason of an ended run."""
    exit_code = signal_number = None
    if end.wait_status is not None and os.WIFSIGNALED(end.wait_status):
        signal_number = os.WTERMSIG(end.wait_status)
    elif end.wait_status is not None:
        exit_code = os.WEXITSTATUS(end.wait_status)
    words = describe_end(end.wait_status, end.member)
    killed = signal_number == signal.SIGKILL and end.killed_after is not None
    # A signal that was sent to end it is no news; how it ended by itself is.
    own_end = [] if killed or signal_number == signal.SIGTERM else [words]

    if end.stopped:
        told = "stopped on request"
        if killed:
            slow = f"{told}: it did not end within {end.killed_after:g} s, so it was killed"
            told = slow if end.killed_after else "killed on request"
        state, parts = "stopped", [told, *own_end]
    elif end.limit_s is not None:
        why = ": it did not end when asked to, so it was killed" if killed else ""
        state, parts = "failed", [f"the time limit of {end.limit_s:g} s ended it{why}", *own_end]
    elif exit_code == 0 and end.deserted:
        state, parts = "failed", [f"{words}{DESERTED}"]
    elif exit_code == 0:
        state, parts = "finished", []
    else:
        state, parts = "failed", [words]
    parts += end.remarks
    if end.leftovers:
        noun = "process" if end.leftovers == 1 else "processes"
        parts.append(f"{end.leftovers} {noun} that it left behind had to be ended")
    reason = "; ".join(parts) or None
    return {"state": state, "exit_code": exit_code, "signal": signal_number, "reason": reason}
