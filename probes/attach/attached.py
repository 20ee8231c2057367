"""Records a process that something else started: a shell script, a batch scheduler, another program.

Processes with one value of $HOPSCOPE_ATTACH that run at the same time on one machine are one run; one that
starts when all others have ended begins the next. Without a framework there is no run.
"""

from __future__ import annotations

import atexit
import os
import sys

from .. import boot

TYPE_CHECKING = False
# See imports.py: most starts of Python end without a framework.
if TYPE_CHECKING:
    from typing import Optional

VARIABLE = "HOPSCOPE_ATTACH"
FOLDER = "attached"
_run: Optional[str] = None
_pid = 0


def start(value: str) -> None:
    """Record this process, with others of this value, from the moment it imports a framework."""

    def folder_of(framework: Optional[str]) -> str:
        from . import run_folder

        global _run, _pid
        if _run is None:
            _run, _pid = join(value, framework), os.getpid()
            # Registered before the recording's own end is, so called after it: the trace is whole by then.
            atexit.register(_leave)
        if framework:
            run_folder.note_framework(_run, framework)
        return _run

    boot.whole = lambda: folder_of(None)
    boot.record_into(folder_of)


def join(value: str, framework: Optional[str]) -> str:
    """The folder of the run that goes on under this value, or of a new one."""
    import hashlib

    from .. import private_files
    from . import members, run_folder
    from .places import home, host_name

    folder = os.path.join(home(), FOLDER)
    private_files.make_folder(folder)
    digest = hashlib.sha256(f"{value}\0{host_name()}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    known = os.path.join(folder, digest)
    with members.locked(f"{known}.lock"):
        current = _read(known)
        if current and os.path.isdir(current):
            try:
                if members.enter(current):
                    return current
            except (OSError, ValueError):
                pass  # it was deleted or damaged meanwhile
        made = run_folder.make(_name(value), "attached", framework)
        members.enter(made, first=True)
        made = run_folder.show(made)
        private_files.write_file(known, os.fsencode(made))
        return made


def _name(value: str) -> str:
    """`train+1a2b` as `attach` gives it is train's; of a bare number the script's name says more."""
    plain = value.rpartition("+")[0] if "+" in value else value
    if plain and not plain.isdecimal():
        return plain
    script = getattr(sys.modules.get("__main__"), "__file__", None) or sys.argv[0]
    return os.path.splitext(os.path.basename(script))[0] or "attached"


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read()).strip()
    except (OSError, ValueError):
        return ""


def _leave() -> None:
    if _run is None or os.getpid() != _pid:
        return  # a fork's end is not the program's
    from . import members

    failed = getattr(sys, "last_type", None) if not hasattr(sys, "ps1") else None
    end = members.End("finished")
    if failed is not None:
        said = f"{failed.__name__}: {getattr(sys, 'last_value', '')}".strip()
        interrupted = issubclass(failed, KeyboardInterrupt)
        end = members.End("stopped", "interrupted") if interrupted else members.End("failed", said)
    try:
        members.leave(_run, end)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"hopscope: the end of this run could not be written down: {error}\n")
