"""The registry of runs: the run folders and nothing else, so every viewer sees the same."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import secrets
import shutil
import signal
import time
from pathlib import Path

from probes.attach import places
from runners.errors import HopscopeError, UsageError
from runners.processes import Identity, command_line, is_alive, send, started_with
from runners.run import LOG_NAME, RUN_DIR_VARIABLE, SPEC_NAME, Run, read_run
from runners.status import LIVE_STATES, STATUS_NAME, StatusFile
from runners.supervisor import DEFAULT_GRACE_S, STOP_NAME, SUPERVISOR_MODULE

__all__ = ["Run", "find", "home", "remove", "request_stop", "runs", "runs_folder", "stop", "wait"]

STOP_SLACK_S = 15.0
"""How much longer than the grace a stop may take to be carried out and written down."""
STARTING_S = 10.0
REMOVED_PREFIX = ".removed-"
FIRST_POLL_S = 0.005
LONGEST_POLL_S = 0.1


def home() -> Path:
    """Return the folder that holds all runs' data: $HOPSCOPE_HOME, else in the user's data directory."""
    return Path(places.home())


def runs_folder() -> Path:
    """Return the folder with one folder a run; it may not exist yet."""
    return home() / "runs"


def runs() -> list[Run]:
    """Return all runs, newest first; a damaged folder is among them, as lost and with its reason."""
    folder = runs_folder()
    try:
        with os.scandir(folder) as entries:
            # A name with a dot in front is a run being made or removed.
            paths = [Path(entry.path) for entry in entries if entry.is_dir() and entry.name[0] != "."]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HopscopeError(f"the runs in {folder} cannot be listed: {error.strerror}") from None
    return sorted(map(read_run, paths), key=lambda run: (run.created, run.id), reverse=True)


def find(name: str | Path) -> Run:
    """Return the run with this id, unique beginning of an id, or path of a run folder.

    UsageError says which ids there are that look alike.
    """
    text = str(name)
    path = Path(text).expanduser()
    if os.sep in text or text in (".", ".."):
        path = path.resolve()
        if _looks_like_run(path):
            return read_run(path)
        raise UsageError(f"{text} is not a run folder: it has no {SPEC_NAME}")
    known = [run.id for run in runs()]
    if text in known:
        return read_run(runs_folder() / text)
    matches = [run_id for run_id in known if text and run_id.startswith(text)]
    if len(matches) == 1:
        return read_run(runs_folder() / matches[0])
    if matches:
        shown = ", ".join(matches[:3]) + (", .." if len(matches) > 3 else "")
        raise UsageError(f"{text} is the beginning of {len(matches)} runs: {shown}; give more of it")
    if text and _looks_like_run(path):
        return read_run(path.resolve())
    alike = difflib.get_close_matches(text, known, n=1)
    hint = f"did you mean {alike[0]}?" if alike else "python3 -m app runs lists them"
    raise UsageError(f"there is no run {text!r}; {hint}")


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

    Returns at once. Asked again, a shorter grace counts. Of a lost run, what still runs is killed, and the
    loss written down.
    """
    run = run.reload()
    if run.attached and not run.ended:
        raise UsageError(_not_ours(run))
    run = _past_its_start(run)
    supervisor = run.supervisor
    if run.ended or supervisor is None:
        if run.state == "lost":
            _bury(run)
        return
    if not _is_supervisor_of(supervisor, run):
        raise HopscopeError(f"{run.path} is a copy of a run that goes on elsewhere; stop that one")
    # On a full disk the supervisor uses its own grace.
    with contextlib.suppress(OSError):
        wish = run.path / f".{STOP_NAME}.{os.getpid()}"
        wish.write_text(json.dumps({"grace_s": grace_s}))
        wish.replace(run.path / STOP_NAME)
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
    """Delete an ended run's folder. UsageError while anything of the run still runs."""
    run = run.reload()
    if not run.path.is_symlink() and not run.path.exists():
        raise UsageError(f"there is no run {run.id!r} any more")
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
    in_registry = run.path.parent.resolve() == runs_folder().resolve()
    if not in_registry and not _looks_like_run(run.path):
        raise UsageError(f"{run.path} does not look like a run folder, so it is left alone")
    try:
        if run.path.is_symlink():
            run.path.unlink()
            return
        # Renamed first, so that nobody reads a folder that is half gone.
        run.path.rename(run.path.with_name(f"{REMOVED_PREFIX}{run.id}-{secrets.token_hex(2)}"))
        # Removals that were cut short are finished here too.
        for doomed in run.path.parent.glob(f"{REMOVED_PREFIX}*"):
            shutil.rmtree(doomed)
    except OSError as error:
        raise HopscopeError(f"{run.id} cannot be removed: {error.strerror}: {error.filename}") from None


def _not_ours(run: Run) -> str:
    pids = ", ".join(str(member.get("pid")) for member in run.attached if member.get("left") is None)
    return f"{run.id} was not started by Hopscope, so it ends where it was started: process {pids}"


def _looks_like_run(path: Path) -> bool:
    return any((path / name).is_file() for name in (SPEC_NAME, STATUS_NAME, LOG_NAME))


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
    return started_with(RUN_DIR_VARIABLE, str(run.path.resolve()))


def _bury(run: Run) -> None:
    """Kill what a lost run left running, and write down that it is lost."""
    left = _left_running(run)
    deadline = time.monotonic() + STOP_SLACK_S
    ended = len(left)
    while left and time.monotonic() < deadline:
        for identity in left:
            with contextlib.suppress(PermissionError):
                send(identity, signal.SIGKILL)
        while any(map(is_alive, left)) and time.monotonic() < deadline:
            time.sleep(FIRST_POLL_S)
        left = _left_running(run)
    if run.status.get("state") not in LIVE_STATES:
        return
    words = f"; {ended} {'process' if ended == 1 else 'processes'} of it still ran and had to be ended"
    status = run.status | {"state": "lost", "reason": (run.reason or "lost") + (words if ended else "")}
    writer = StatusFile(run.path)
    with contextlib.suppress(FileNotFoundError):
        writer.write(status, last=True)
    writer.clear()
