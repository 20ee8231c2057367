"""What still runs of a run whose supervisor is gone: found by the environment that the run gave it.

A process that was started without its parent's environment is found only below one that has it. Other users'
processes, set-user-id programs among them, cannot be read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from runners.runs.processes import Identity, Stat, all_stats, is_alive, send, starting_environment

RUN_DIR_VARIABLE = "HOPSCOPE_RUN_DIR"
FRESH_S = 1.0
FIRST_POLL_S = 0.005
LONGEST_POLL_S = 0.1
GIVE_UP_S = 15.0
"""How long what was killed may last before it counts as hung."""

_known: tuple[float, dict[bytes, list[Identity]]] = (float("-inf"), {})


def left_running(folder: Path) -> list[Identity]:
    """Return the living processes that were started with a run's folder in their environment, and below."""
    return _processes_by_folder().get(_name(folder), [])


def lately_left_running(folder: Path) -> list[Identity]:
    """Return the same as `left_running`, from a look at the processes that may be a second old.

    One look serves all runs and viewers.
    """
    global _known
    seen, processes = _known
    now = time.monotonic()
    if now - seen > FRESH_S:
        processes = _processes_by_folder()
        _known = (now, processes)
    return processes.get(_name(folder), [])


def end_left_running(folder: Path, grace_s: float) -> tuple[int, list[Identity]]:
    """End what `left_running` finds: TERM now, KILL after `grace_s` seconds, with 0 KILL now.

    Returns how many processes there were, and those that have not ended even so.
    """
    found = set(left_running(folder))
    left, asked = list(found), set[Identity]()
    now = time.monotonic()
    kill_at, give_up_at = now + grace_s, now + grace_s + GIVE_UP_S
    while left and now < give_up_at:
        for identity in left:
            if now >= kill_at or identity not in asked:
                with contextlib.suppress(PermissionError):
                    send(identity, signal.SIGKILL if now >= kill_at else signal.SIGTERM)
        asked.update(left)
        while any(map(is_alive, left)) and time.monotonic() < now + LONGEST_POLL_S:
            time.sleep(FIRST_POLL_S)
        # One whose parent has ended meanwhile may be found no more, and is known.
        found.update(left_running(folder))
        left = [identity for identity in found if is_alive(identity)]
        now = time.monotonic()
    return len(found), left


def _name(folder: Path) -> bytes:
    return os.fsencode(folder.resolve())


def _processes_by_folder() -> dict[bytes, list[Identity]]:
    stats = {stat.pid: stat for stat in all_stats()}
    own = {pid: folder for pid in stats if (folder := starting_environment(pid, RUN_DIR_VARIABLE))}
    found: dict[bytes, list[Identity]] = {}
    for stat in stats.values():
        if stat.pid == os.getpid() or stat.ended:
            continue
        for folder in _folders(stat, stats, own):
            found.setdefault(folder, []).append(stat.identity)
    return found


def _folders(stat: Stat, stats: dict[int, Stat], own: dict[int, bytes]) -> set[bytes]:
    """Return the run folders that a process and those above it were started with."""
    folders: set[bytes] = set()
    above: Stat | None = stat
    # A pid that was used anew between two readings could close a circle.
    for _ in range(len(stats)):
        if above is None:
            break
        if above.pid in own:
            folders.add(own[above.pid])
        above = stats.get(above.parent)
    return folders
