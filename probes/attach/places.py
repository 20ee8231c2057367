"""Where runs are kept, and what tells one process from all others. The dashboard asks here too."""

from __future__ import annotations

import os
import socket
import sys
from typing import Optional

HOME_VARIABLE = "HOPSCOPE_HOME"
DASHBOARDS = "dashboards"
"""The folder of home in which each dashboard that serves has a file: `PORT.json`."""


def home() -> str:
    """The folder that holds all runs' data: $HOPSCOPE_HOME, else in the user's data directory."""
    chosen = os.environ.get(HOME_VARIABLE)
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/hopscope")
    data = os.environ.get("XDG_DATA_HOME", "")
    # By the XDG rules a relative path there counts for nothing.
    base = data if data.startswith("/") else os.path.expanduser("~/.local/share")
    return os.path.join(base, "hopscope")


def host_name() -> str:
    """This machine's name, as runs keep it."""
    return socket.gethostname()


def boot_id() -> str:
    """The id of this boot of the kernel, '' where it cannot be read."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return ""


def started_at(pid: int) -> Optional[int]:
    """When a process was started, in clock ticks since boot; None where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            # The command's name stands in brackets and may hold spaces and brackets itself.
            fields = file.read().rsplit(")", 1)[1].split()
        return None if fields[0] in "ZXx" else int(fields[19])
    except (OSError, ValueError, IndexError):
        return None
