"""Which process is which: a pid alone may be reused, so its start time and the boot stand beside it.

Everything here reads Linux's /proc. Only the standard library is used: the supervisor imports this.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import signal
from pathlib import Path

from runners.errors import HopscopeError

PROC = Path("/proc")


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """One process and no other: the pid, its start in clock ticks since boot, and the boot's id."""

    pid: int
    start: int
    boot: str


@dataclasses.dataclass(frozen=True, slots=True)
class Stat:
    """What /proc/PID/stat says that matters here; `state` is the kernel's letter (R, S, D, Z, ..)."""

    pid: int
    state: str
    parent: int
    group: int
    start: int

    @property
    def ended(self) -> bool:
        """Only its exit status is left of it (a zombie)."""
        return self.state in "ZXx"

    @property
    def identity(self) -> Identity:
        """The process that this was read from."""
        return Identity(self.pid, self.start, boot_id())


def require_proc() -> None:
    """Raise HopscopeError where processes cannot be told apart, which is everywhere but on Linux."""
    if read_stat(os.getpid()) is None or not boot_id():
        raise HopscopeError(
            f"runs need Linux with {PROC} mounted: {PROC}/self/stat and boot_id cannot be read here, so "
            "a run could neither be watched nor stopped safely"
        )


@functools.cache
def boot_id() -> str:
    """Return the id of this boot of the kernel, '' where it cannot be read."""
    try:
        return (PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def read_stat(pid: int) -> Stat | None:
    """Return the process's state, parent and start, or None when there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_bytes().decode("latin-1")
        # The command's name stands in brackets and may hold spaces and brackets itself.
        fields = text.rsplit(")", 1)[1].split()
        return Stat(pid, state=fields[0], parent=int(fields[1]), group=int(fields[2]), start=int(fields[19]))
    except (OSError, ValueError, IndexError):
        return None


def identify(pid: int) -> Identity | None:
    """Return the identity of the process that has this pid now, or None."""
    stat = read_stat(pid)
    return stat.identity if stat else None


def is_alive(identity: Identity) -> bool:
    """Return whether that very process still runs; a zombie does not."""
    if not identity.boot or identity.boot != boot_id():
        return False
    stat = read_stat(identity.pid)
    if stat is None or stat.start != identity.start:
        return False
    if stat.ended:
        # As process 1 of a container this process inherits supervisors, and nobody else reaps them.
        if stat.parent == os.getpid():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(identity.pid, os.WNOHANG)
        return False
    return True


def send(identity: Identity, signum: signal.Signals) -> bool:
    """Signal that very process; return False when it has ended. PermissionError passes through."""
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    except OSError:
        # A kernel before 5.3 has no pidfd: the check and the signal are then two steps.
        if not is_alive(identity):
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(identity.pid, signum)
        return True
    try:
        # The handle is taken first: what is checked now is what the signal reaches.
        if not is_alive(identity):
            return False
        signal.pidfd_send_signal(handle, signum)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)


def all_stats() -> list[Stat]:
    """Return all processes that can be seen."""
    try:
        pids = [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return []
    return [stat for stat in map(read_stat, pids) if stat is not None]


def descendants(pid: int) -> list[Stat]:
    """Return the living children of `pid`, their children and so on, parents first; no zombies."""
    children: dict[int, list[Stat]] = {}
    for stat in all_stats():
        children.setdefault(stat.parent, []).append(stat)
    found: list[Stat] = []
    queue = list(children.get(pid, ()))
    while queue:
        stat = queue.pop(0)
        if not stat.ended:
            found.append(stat)
        queue.extend(children.pop(stat.pid, ()))
    return found


def starting_environment(pid: int, variable: str) -> bytes | None:
    """Return the value of a variable in the environment that a process was started with.

    None where it has none, and where its environment may not be read (other users' processes).
    """
    try:
        entries = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return None
    beginning = os.fsencode(f"{variable}=")
    return next((entry[len(beginning) :] for entry in entries if entry.startswith(beginning)), None)


def command_line(pid: int) -> list[str]:
    """Return the words that the process was started with, none when they cannot be read."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
    return [os.fsdecode(word) for word in words[:-1]]


def describe_signal(number: int) -> str:
    """Return 'signal 9 (SIGKILL)'."""
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
