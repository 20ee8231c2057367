"""Makes the folder of a run that nobody launched: of a process that records itself.

It is as the launcher's are, so registry, report and pages read it alike; the difference is in the status:
``attached`` lists the processes that take part, and there is no supervisor.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import re
import secrets
import shutil
import sys
from typing import Any, Optional

from .. import private_files
from ..trace.refusals import reserve
from .places import home, host_name

SPEC, STATUS, LOG = "spec.json", "status.json", "out.log"
HIDDEN = ".new-"
"""Begins the name of a folder that is no run to anybody yet."""
_TIME = "%Y%m%d-%H%M%S"
_NO_OUTPUT = "[hopscope] {what}; its output went where it was started and is not kept here\n"
_WHAT = {
    "attached": "a process that was started elsewhere attached the recorder",
    "block": "a block of a program was recorded",
}


def make(name: str, origin: str, framework: Optional[str]) -> str:
    """Make a run's folder and return its path; OSError where that cannot be written.

    It is in no list until `show` is called: a run without members would be taken for a lost one.
    """
    runs = os.path.join(os.path.realpath(home()), "runs")
    private_files.make_folder(runs)
    now = datetime.datetime.now(datetime.timezone.utc)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "attached"
    while True:
        run = f"{now.strftime(_TIME)}-{slug}-{secrets.token_hex(2)}"
        path = os.path.join(runs, run)
        making = os.path.join(runs, f"{HIDDEN}{run}")
        if os.path.exists(path):
            continue
        try:
            private_files.make_new_folder(making)
            private_files.make_new_folder(os.path.join(making, "trace"))
            break
        except FileExistsError:
            continue
    try:
        reserve(os.path.join(making, "trace"))
        said = _NO_OUTPUT.format(what=_WHAT.get(origin, origin))
        private_files.write_file(os.path.join(making, LOG), said.encode())
        write_json(os.path.join(making, SPEC), _spec(run, name, origin, framework, now))
        status = {"state": "running", "exit_code": None, "signal": None, "reason": None, "pid": os.getpid()}
        times: dict[str, Any] = {"started": now.timestamp(), "ended": None, "attached": []}
        write_json(os.path.join(making, STATUS), {**status, **times})
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise
    return making


def show(path: str) -> str:
    """Put a hidden run among the others; returns its path from now on."""
    folder, name = os.path.split(path)
    shown = os.path.join(folder, name[len(HIDDEN) :])
    os.rename(path, shown)
    return shown


def run_id(path: str) -> str:
    """The id that a run has, or will have once it is shown."""
    name = os.path.basename(path)
    return name[len(HIDDEN) :] if name.startswith(HIDDEN) else name


def note_framework(path: str, framework: str) -> None:
    """Keep with a run which framework it uses, now that it is there; the first one counts."""
    with contextlib.suppress(OSError, ValueError):
        spec = read_json(os.path.join(path, SPEC))
        if not spec.get("framework"):
            write_json(os.path.join(path, SPEC), {**spec, "framework": framework, "versions": _versions()})


def _spec(
    run: str, name: str, origin: str, framework: Optional[str], now: datetime.datetime
) -> dict[str, Any]:
    return {
        "run": run,
        "kind": "script",
        "name": name,
        "framework": framework,
        "command": _command(),
        "cwd": os.getcwd(),
        "env": {},
        "python": sys.executable,
        "devices": None,
        "stand_ins": None,
        "device_map": {},
        "sampled_gpus": [],
        "steps": None,
        "options": {},
        "versions": _versions(),
        "host": {"name": host_name()},
        "created": now.isoformat(timespec="milliseconds"),
        "origin": origin,
    }


def _command() -> list[str]:
    """The words that this process was started with."""
    try:
        with open("/proc/self/cmdline", "rb") as file:
            return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    except OSError:
        return [sys.executable, *getattr(sys, "argv", [])]


def _versions() -> dict[str, str]:
    import importlib.metadata

    found: dict[str, str] = {}
    with contextlib.suppress(Exception):  # a damaged package is no reason to record nothing
        for package in importlib.metadata.distributions():
            name = (package.metadata["Name"] or "").lower().replace("_", "-")
            if name:
                found.setdefault(name, package.version)
    # Builds of the framework under other names are given under its own, as the launcher does.
    for plain, builds in (("tensorflow", ("tensorflow-cpu", "tensorflow-gpu")), ("mxnet", ("mxnet-cu",))):
        others = sorted(name for name in found if name.startswith(builds))
        if plain not in found and others:
            found[plain] = found[others[0]]
    return {"python": platform.python_version(), **dict(sorted(found.items()))}


def read_json(path: str) -> dict[str, Any]:
    """The JSON object in a file; OSError or ValueError where there is none."""
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    if not isinstance(value, dict):
        raise ValueError(f"{path} does not hold a JSON object")
    return value


def write_json(path: str, value: dict[str, Any]) -> None:
    """Replace a file as a whole."""
    private_files.replace_file(path, f"{json.dumps(value, indent=1)}\n".encode())
