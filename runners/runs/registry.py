"""The registry of runs: the run folders and nothing else, so every viewer sees the same."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import signal
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from probes import private_files
from probes.attach import places
from runners.errors import HopscopeError, UsageError
from runners.printable import printable
from runners.runs import removal
from runners.runs.leftovers import end_left_running, left_running
from runners.runs.processes import Identity, command_line, send
from runners.runs.run import LOG_NAME, SPEC_NAME, UNWATCHED, Run, read_run, unread_run
from runners.runs.run_files import is_file, is_plain
from runners.runs.run_index import RunIndex
from runners.runs.status import LIVE_STATES, STATUS_NAME, StatusFile
from runners.runs.supervision import DEFAULT_GRACE_S, STOP_NAME, SUPERVISOR_MODULE

__all__ = [
    "Run",
    "close_to_others",
    "entries",
    "find",
    "holds",
    "home",
    "index",
    "listed",
    "named",
    "newest_first",
    "read_entry",
    "remove",
    "request_stop",
    "runs",
    "runs_folder",
    "stop",
    "wait",
]

STOP_SLACK_S = 15.0
"""How much longer than the grace a stop may take to be carried out and written down."""
STARTING_S = 10.0
_LINK = "it is a link, which is not followed; give the path of the folder that it leads to"
_LONGEST_NAME = 255
FIRST_POLL_S = 0.005
LONGEST_POLL_S = 0.1


def home() -> Path:
    """Return the folder that holds all runs' data: $HOPSCOPE_HOME, else in the user's data directory."""
    return Path(places.home())


def runs_folder() -> Path:
    """Return the folder with one folder a run; it may not exist yet."""
    return home() / "runs"


def close_to_others() -> list[str]:
    """Take the rights that others had in the folders of runs, and say so, a line each; mostly nothing.

    HopscopeError where a folder belongs to another user, who could change what is in it at any time.
    """
    said = []
    for folder in (home(), runs_folder()):
        with contextlib.suppress(OSError):
            if (owner := folder.stat().st_uid) not in (0, os.geteuid()):
                raise HopscopeError(
                    f"{printable(folder)} belongs to another user (uid {owner}), who could change all"
                    " runs; name a folder of your own in HOPSCOPE_HOME, or take this one over with chown"
                )
            if private_files.narrow(str(folder)):
                said.append(f"other users could look into {printable(folder)}; now only its owner can")
    return said


def runs() -> list[Run]:
    """Return all runs, newest first; a damaged folder is among them, as lost and with its reason."""
    return list(index.look())


def entries() -> list[os.DirEntry[str]]:
    """Return the registry's entries: its folders, and links in place of one, which are never followed."""
    folder = runs_folder()
    try:
        with os.scandir(folder) as found:
            # A name with a dot in front is a run being made or removed.
            return [entry for entry in found if entry.name[0] != "." and _is_entry(entry)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HopscopeError(f"the runs in {folder} cannot be listed: {error.strerror}") from None


def read_entry(entry: os.DirEntry[str]) -> Run:
    """Return the run of an entry of the registry; one that is not opened has its reason as `problem`."""
    path = Path(entry.path)
    if entry.is_symlink():
        return unread_run(path, _LINK)
    if not entry.name.isprintable():
        return unread_run(path, "the folder's name has characters that cannot be shown; rename it to open it")
    return read_run(path)


def newest_first(found: Iterable[Run]) -> list[Run]:
    """Return runs as lists show them."""
    return sorted(found, key=lambda run: (run.created, run.id), reverse=True)


index = RunIndex(entries, read_entry, newest_first)
"""What this process knows of the registry, for all who list it."""


def named(name: str) -> Run:
    """Return the run with this very id: all that a page, an address or a run's own folder may name.

    Nothing but the name of a folder of the registry names one: no path, no beginning, no link. UsageError
    for all else.
    """
    if is_plain(name) and name[0] != "." and name.isprintable() and len(name) <= _LONGEST_NAME:
        path = runs_folder() / name
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(path.lstat().st_mode):
                return read_run(path)
            raise UsageError(f"{name} cannot be opened: {_LINK}" if path.is_symlink() else _none(name))
    raise UsageError(_none(name))


def listed(name: str | Path) -> Run:
    """Return the run of the registry with this id, unique beginning of an id, or path of its folder.

    Only what is in the registry may be stopped or removed. UsageError says which ids look alike.
    """
    text, known = str(name), runs()
    path = Path(text).expanduser()
    if os.sep in text and _same_folder(path.parent, runs_folder()):
        text = path.name
    for run in known:
        if text in (run.id, run.path.name):
            return run
    if os.sep in text:
        raise UsageError(_not_in_registry(path))
    # No beginning is meant that begins with a dot: that is how what can't be opened is listed.
    matches = [run for run in known if text.strip(".") and run.id.startswith(text)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(run.id for run in matches[:3]) + (", .." if len(matches) > 3 else "")
        raise UsageError(
            f"{printable(text)} is the beginning of {len(matches)} runs: {shown}; give more of it"
        )
    raise UsageError(_none(text, known))


def find(name: str | Path) -> Run:
    """Return the run to read with this id, unique beginning of an id, or path of any run folder.

    For the command line only, whose user may read any folder; pages use `named`. UsageError says which ids
    look alike.
    """
    text = str(name)
    path = Path(text).expanduser()
    try:
        run = listed(text)
    except UsageError:
        if text and _looks_like_run(path):
            return read_run(path.resolve())
        if os.sep in text or text in (".", ".."):
            raise UsageError(f"{printable(text)} is not a run folder: it has no {SPEC_NAME}") from None
        raise
    if run.path.is_symlink() or not run.path.name.isprintable():
        raise UsageError(f"{printable(run.id)} cannot be opened: {run.problem}")
    return run


def holds(path: Path) -> bool:
    """Whether a run's folder is one of the registry's own: nothing is written into any other."""
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode) and _same_folder(path.parent, runs_folder())
    return False


def wait(run: Run, timeout: float | None = None) -> Run:
    """Wait until the run has ended, `timeout` seconds at most, and return it as it is then."""
    deadline = None if timeout is None else time.monotonic() + timeout
    pause = FIRST_POLL_S
    while not (run := run.reload()).ended:
        if deadline is not None and time.monotonic() >= deadline:
            break
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_POLL_S)
    return run


def request_stop(run: Run, grace_s: float = DEFAULT_GRACE_S) -> None:
    """Ask a run to end: TERM to its program now, KILL after `grace_s` seconds; with 0 KILL now.

    Returns at once. Asked again, a shorter grace counts. Nobody else can end what a lost run left running,
    so there this returns when that has ended, and the loss is written down.
    """
    _require_own(run)
    if run.path.is_symlink():
        raise UsageError(f"{run.id} cannot be stopped: {_LINK}")
    run = run.reload()
    if run.attached and not run.ended:
        raise UsageError(_not_ours(run))
    run = _past_its_start(run)
    supervisor = run.supervisor
    if run.ended or supervisor is None:
        if run.state == "lost":
            _bury(run, grace_s)
        return
    if not _is_supervisor_of(supervisor, run):
        raise HopscopeError(f"{run.path} is a copy of a run that goes on elsewhere; stop that one")
    # On a full disk the supervisor uses its own grace.
    with contextlib.suppress(OSError):
        private_files.replace_file(str(run.path / STOP_NAME), json.dumps({"grace_s": grace_s}).encode())
    try:
        send(supervisor, signal.SIGTERM)
    except PermissionError:
        raise HopscopeError(f"{run.id} belongs to another user, so it cannot be stopped from here") from None


def stop(run: Run, grace_s: float = DEFAULT_GRACE_S) -> Run:
    """Ask a run to end, as `request_stop` does, wait until it has, and return it as it is then."""
    request_stop(run, grace_s)
    run = wait(run, grace_s + STOP_SLACK_S)
    if not run.ended:
        why = f": {run.reason}" if run.reason else ""
        raise HopscopeError(f"{run.id} was asked to stop and has not ended yet{why}")
    return run


def remove(run: Run) -> None:
    """Delete an ended run's folder in the registry; of a link there the link alone.

    UsageError while anything of the run still runs, and for a folder elsewhere. Whatever replaces the folder
    meanwhile, and whatever links or mounts are in it: nothing outside it is deleted.
    """
    _require_own(run)
    if not run.path.is_symlink() and not run.path.exists():
        raise UsageError(f"there is no run {run.id!r} any more")
    if run.path.is_symlink():
        _remove(run)
        return
    run = run.reload()
    if not run.ended and run.attached:
        raise UsageError(_not_ours(run))
    if not run.ended:
        raise UsageError(f"{run.id} is {run.state}; stop it first: python3 -m app stop {run.id}")
    if run.state == "lost" and (left := _left_running(run)):
        pids = ", ".join(str(identity.pid) for identity in left)
        raise UsageError(
            f"of {run.id}, which is lost, process {pids} still runs; stop it first: "
            f"python3 -m app stop {run.id}"
        )
    _remove(run)


def _remove(run: Run) -> None:
    try:
        removal.remove(runs_folder(), run.path.name)
    except OSError as error:
        where = f": {printable(error.filename)}" if error.filename else ""
        raise HopscopeError(f"{run.id} cannot be removed: {error.strerror}{where}") from None


def _not_ours(run: Run) -> str:
    pids = ", ".join(str(member.get("pid")) for member in run.attached if member.get("left") is None)
    return f"{run.id} was not started by Hopscope, so it ends where it was started: process {pids}"


def _require_own(run: Run) -> None:
    """Refuse a run outside the registry: it may be a copy, or of somebody else."""
    if not _same_folder(run.path.parent, runs_folder()):
        raise UsageError(_not_in_registry(run.path))


def _not_in_registry(path: Path) -> str:
    return (
        f"{printable(path)} is not in {printable(runs_folder())}, so it is left alone: only runs that"
        " python3 -m app runs lists can be stopped or removed; HOPSCOPE_HOME names where they are kept"
    )


def _is_entry(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or entry.is_dir(follow_symlinks=False)


def _same_folder(path: Path, other: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        return path.samefile(other)
    return False


def _none(text: str, known: Iterable[Run] = ()) -> str:
    """Say that there is no run of this name, and which there is that looks alike."""
    alike = difflib.get_close_matches(text, [run.id for run in known], n=1)
    hint = f"did you mean {alike[0]}?" if alike else "python3 -m app runs lists them"
    return f"there is no run {printable(text)[:_LONGEST_NAME]!r}; {hint}"


def _looks_like_run(path: Path) -> bool:
    return any(is_file(path, name) for name in (SPEC_NAME, STATUS_NAME, LOG_NAME))


def _past_its_start(run: Run) -> Run:
    """Wait until a starting run has its supervisor, who alone can stop it."""
    deadline = time.monotonic() + STARTING_S
    while not run.ended and run.supervisor is None and time.monotonic() < deadline:
        time.sleep(FIRST_POLL_S)
        run = run.reload()
    if not run.ended and run.supervisor is None:
        raise HopscopeError(f"{run.id} is still being started and cannot be stopped yet; try again")
    return run


def _is_supervisor_of(identity: Identity, run: Run) -> bool:
    """Whether a process was started as this very folder's supervisor: a copied or forged status may lie."""
    words = command_line(identity.pid)
    return SUPERVISOR_MODULE in words and str(run.path.resolve()) in words


def _left_running(run: Run) -> list[Identity]:
    """Return what a lost run left running: its processes carry its folder in their environment.

    Of a run that nobody launched nothing is ours to end.
    """
    if run.attached:
        return []
    return left_running(run.path)


def _bury(run: Run, grace_s: float) -> None:
    """End what a lost run left running, and write down that it is lost."""
    ended, left = (0, []) if run.attached else end_left_running(run.path, grace_s)
    if left:
        pids = ", ".join(str(identity.pid) for identity in left)
        raise HopscopeError(f"{run.id} is lost, and process {pids} does not end (it may hang in a driver)")
    if run.status.get("state") not in LIVE_STATES:
        return
    still = f"{UNWATCHED}; {ended} {'process' if ended == 1 else 'processes'} still ran and had to be ended"
    status = run.status | {"state": "lost", "reason": still if ended else run.reason}
    writer = StatusFile(run.path)
    with contextlib.suppress(FileNotFoundError):
        writer.write(status, last=True)
    writer.clear()
