"""Deletes what killed processes left behind of blocks that were no runs to anybody yet.

While a block is recorded its process holds a lock on a file in its folder. The kernel lets go of it when the
process ends, however it does. A folder is deleted only where nobody holds that lock, and what it says of its
process is of this machine and not running any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from typing import Any, Optional

from ..trace.descriptors import Held
from .members import alive
from .places import host_name
from .run_folder import HIDDEN, STATUS, read_json

_OWNER = ".owner.lock"
_BEING_MADE_S = 3600.0
"""A folder that says nothing yet is left alone for so long."""


def claim(folder: str) -> Optional[Held]:
    """Hold a folder for as long as this process lives, or until `let_go`; None where that cannot be."""
    try:
        descriptor = os.open(os.path.join(folder, _OWNER), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a file system that cannot lock
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return Held(descriptor)


def let_go(folder: str, held: Optional[Held]) -> None:
    """Hold a folder no more."""
    if held is not None:
        held.close()
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, _OWNER))


def sweep(runs: str) -> list[str]:
    """Delete what was left behind in the folder of runs, and return the names."""
    gone = []
    with contextlib.suppress(OSError):
        for name in os.listdir(runs):
            folder = os.path.join(runs, name)
            if name.startswith(HIDDEN) and not os.path.islink(folder) and _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(name)
    return gone


def _abandoned(folder: str) -> bool:
    try:
        status = read_json(os.path.join(folder, STATUS))
        members = [member for member in status.get("attached") or [] if isinstance(member, dict)]
    except (OSError, ValueError):
        members = []
    if not members:
        return _age(folder) > _BEING_MADE_S and _free(folder)
    return all(map(_gone, members)) and _free(folder)


def _gone(member: dict[str, Any]) -> bool:
    """Whether a member's process is seen to be over: of another machine nothing is seen."""
    return member.get("host") == host_name() and not alive({**member, "left": None})


def _free(folder: str) -> bool:
    try:
        descriptor = os.open(os.path.join(folder, _OWNER), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True  # it was made by an earlier version, or killed at once
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _age(folder: str) -> float:
    try:
        return time.time() - os.stat(folder).st_mtime
    except OSError:
        return 0.0
