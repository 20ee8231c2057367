"""Runs programs' scripts one after the other in forks of a process that has imported their framework.

Started with the framework's Python and the framework's name. From standard input it reads a line of JSON, a
list of [script, argument, ..], and writes a line with as many [exit status, standard output, standard error].
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
import tempfile
import traceback
from pathlib import Path

LIMIT_S = 60


def run(words: list[str]) -> list[object]:
    """Run a script as `python script arguments` does."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            status = 1
            try:
                status = _status(words)
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


def _status(words: list[str]) -> int:
    import signal

    signal.alarm(LIMIT_S)  # ends the fork
    sys.argv = words
    sys.path.insert(0, str(Path(words[0]).parent))
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 1
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        print(json.dumps([run(words) for words in json.loads(line)]), flush=True)
