"""How a run ended, in words."""

from __future__ import annotations

import os
import signal
from typing import Any

from runners.processes import describe_signal


def judge_end(
    wait_status: int | None, stopped: bool, killed_after: float | None = None, leftovers: int = 0
) -> dict[str, Any]:
    """Return the state, exit_code, signal and reason of an ended run.

    `wait_status` is the program's, as os.waitpid gives it, None when nobody saw it. `stopped`: somebody
    asked for the end before it came. `killed_after`: seconds of grace after which KILL was sent.
    `leftovers`: how many processes it left behind had to be ended.
    """
    exit_code = signal_number = None
    words = "its end was not seen"
    if wait_status is not None and os.WIFSIGNALED(wait_status):
        signal_number = os.WTERMSIG(wait_status)
        words = f"killed by {describe_signal(signal_number)}"
        if os.WCOREDUMP(wait_status):
            words += ", core dumped"
    elif wait_status is not None:
        exit_code = os.WEXITSTATUS(wait_status)
        words = f"exited with status {exit_code}"

    if stopped:
        state = "stopped"
        overdue = signal_number == signal.SIGKILL and killed_after is not None
        asked = (
            f"did not end within {killed_after:g} s of being asked to" if overdue else "stopped on request"
        )
        parts = [asked, words]
    elif exit_code == 0:
        state, parts = "finished", []
    else:
        state, parts = "failed", [words]
    if leftovers:
        noun = "process" if leftovers == 1 else "processes"
        parts.append(f"{leftovers} {noun} that it left behind had to be ended")
    reason = "; ".join(parts) or None
    return {"state": state, "exit_code": exit_code, "signal": signal_number, "reason": reason}
