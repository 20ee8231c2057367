"""The processes of a run that nobody supervises: each writes down that it takes part, and how it went.

One that is killed writes nothing more; whoever reads the status sees that it is gone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

from .. import private_files
from ..trace.left_graphs import remove_graphs
from ..trace.stderr_rest import take_rest
from .places import boot_id, host_name, started_at
from .run_folder import STATUS, read_json, write_json

_LOCK = ".members.lock"
_NO_STATUS = "its exit status is known only to what started it"


class End(NamedTuple):
    """How a process took leave of a run: `state` is finished, failed or stopped."""

    state: str
    reason: Optional[str] = None


@contextlib.contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold a lock file, made where it is missing; where the file system cannot lock, go on without."""
    descriptor = private_files.open_file(path, os.O_RDWR | os.O_CREAT)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def alive(member: dict[str, Any]) -> bool:
    """Whether a member's process still takes part, as far as can be seen from this machine."""
    if member.get("left") is not None or member.get("boot") != boot_id():
        return False
    pid, start = member.get("pid"), member.get("start")
    return isinstance(pid, int) and start is not None and started_at(pid) == start


def enter(run: str, first: bool = False) -> bool:
    """Note that this process takes part in a run; False where the run is over, unless it is the `first`."""
    with locked(os.path.join(run, _LOCK)):
        status = read_json(os.path.join(run, STATUS))
        members = [member for member in status.get("attached", []) if isinstance(member, dict)]
        if not first and (status.get("state") != "running" or not any(map(alive, members))):
            return False
        me = {"pid": os.getpid(), "start": started_at(os.getpid()), "boot": boot_id(), "host": host_name()}
        members.append({**me, "joined": time.time(), "left": None, "failure": None})
        write_json(os.path.join(run, STATUS), {**status, "attached": members})
    return True


def leave(run: str, end: End, whole: bool = True) -> None:
    """Note that this process takes part no more; the last one to leave ends the run.

    Where it is the `whole` process that ends, nobody has seen its exit status.
    """
    with locked(os.path.join(run, _LOCK)):
        status = read_json(os.path.join(run, STATUS))
        members = [member for member in status.get("attached", []) if isinstance(member, dict)]
        now = time.time()
        for member in members:
            if member.get("pid") == os.getpid() and member.get("left") is None:
                member.update(left=now, state=end.state, failure=end.reason)
        status["attached"] = members
        if not any(map(alive, members)) and status.get("state") == "running":
            status |= _ending(members, whole) | {"ended": now}
            with contextlib.suppress(OSError):
                take_rest(os.path.join(run, "trace"))
            remove_graphs(os.path.join(run, "trace"))
        write_json(os.path.join(run, STATUS), status)


def _ending(members: list[dict[str, Any]], whole: bool) -> dict[str, Any]:
    """How a run ended whose members have all left, or are gone."""
    gone = [member for member in members if member.get("left") is None]
    if gone:
        return {"state": "lost", "reason": gone_words(gone)}
    for state in ("failed", "stopped"):
        for member in members:
            if member.get("state") == state:
                who = f"process {member.get('pid')}: " if len(members) > 1 else ""
                return {"state": state, "reason": f"{who}{member.get('failure') or state}"}
    return {"state": "finished", "reason": _NO_STATUS if whole else None}


def gone_words(gone: list[dict[str, Any]]) -> str:
    """What is said of processes that ended without taking leave."""
    pids = ", ".join(str(member.get("pid")) for member in gone)
    who = f"process {pids}" if len(gone) == 1 else f"processes {pids}"
    return f"{who} ended without taking leave: killed, or by os._exit"
