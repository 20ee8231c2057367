"""Which dashboard serves the runs of this home, so that a program can tell where its run is shown.

Each that serves keeps a file DASHBOARDS/PORT.json in home: its address without a token, and its process.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from .. import private_files
from .places import DASHBOARDS, boot_id, home, started_at
from .run_folder import read_json, write_json

DEFAULT = "http://127.0.0.1:8501"


@contextlib.contextmanager
def told(address: str, port: int) -> Iterator[None]:
    """Let programs know of this process's dashboard as long as it serves; not where home is read-only."""
    path = os.path.join(home(), DASHBOARDS, f"{port}.json")
    pid = os.getpid()
    mine = {"address": address, "pid": pid, "start": started_at(pid), "boot": boot_id()}
    with contextlib.suppress(OSError):
        private_files.make_folder(os.path.dirname(path))
        write_json(path, mine)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            if read_json(path) == mine:
                os.unlink(path)


def serving() -> list[str]:
    """The addresses of the dashboards that serve this home's runs now."""
    folder = os.path.join(home(), DASHBOARDS)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = []
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            known = read_json(os.path.join(folder, name))
            if known.get("boot") == boot_id() and started_at(int(known["pid"])) == known.get("start"):
                found.append(str(known["address"]))
    return found


def address() -> str:
    """Where runs are shown; the default address where no dashboard serves."""
    return next(iter(serving()), DEFAULT)
