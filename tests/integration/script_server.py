"""Runs scripts one after the other in forks of a process that has imported their framework.

Started with the framework's Python and the framework's name, or several with commas. From standard input
it reads a line of JSON, a list of requests, and writes a line with as many [exit status, standard output,
standard error].

A request is [script, argument, ..], or an object with that list as `words`, and perhaps `module`, a name that
is run as `-m` does from the folder `cwd`; `env`, variables; and `record`, the folder of a run to record into.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import runpy
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

LIMIT_S = 120
RECORDER = Path(__file__).resolve().parents[2] / "probes" / "inject" / "sitecustomize.py"


def run(request: list[str] | dict[str, Any]) -> list[object]:
    """Run a script as `python script arguments` does."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            status = 1
            try:
                status = _status(request if isinstance(request, dict) else {"words": request})
            finally:
                if sys.exc_info()[0]:
                    traceback.print_exc()
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read())
        return [os.waitstatus_to_exitcode(status), *texts]


def _status(request: dict[str, Any]) -> int:
    signal.alarm(LIMIT_S)  # ends the fork
    words, module = request["words"], request.get("module")
    sys.argv = words
    sys.path.insert(0, request["cwd"] if module else str(Path(words[0]).parent))
    sys.modules["__main__"].__file__ = words[0]
    os.chdir(request.get("cwd") or ".")
    os.environ.update(request.get("env") or {})
    if request.get("record"):
        _record(request["record"])
    try:
        if module:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 1
    finally:
        if request.get("record"):
            # A fork ends without what Python does at its end; the recorder writes its last then.
            atexit._run_exitfuncs()
    return 0


def _record(folder: str) -> None:
    os.environ.update(HOPSCOPE_TRACE="1", HOPSCOPE_RUN_DIR=folder)
    runpy.run_path(str(RECORDER))


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    for name in sys.argv[1].split(","):
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps([run(request) for request in json.loads(line)]), flush=True)
