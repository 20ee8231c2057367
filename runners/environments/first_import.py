"""Importing a framework once in its new environment: what is missing is told then, not in a run."""

from __future__ import annotations

import json
import re
import signal

from runners.environments.frameworks import DRIVER_LIBRARY, Framework
from runners.environments.install_output import InstallOutput
from runners.environments.workbench import Workbench
from runners.errors import HopscopeError

_ANSWER = "hopscope-import "
_LIBRARY = re.compile(r"(\S+?\.so[.\d]*): cannot open shared object file")

_TRY = """
import ctypes, importlib, json, sys, traceback
module, libraries = sys.argv[1], sys.argv[2:]
error, missing = None, []
try:
    importlib.import_module(module)
except BaseException as failure:
    told = traceback.format_exc()
    error = "%s: %s" % (type(failure).__name__, failure)
for library in libraries if error else ():
    try:
        ctypes.CDLL(library)
    except OSError:
        missing.append(library)
print("\\nhopscope-import " + json.dumps({"error": error, "missing": missing}), flush=True)
if error:
    print(told)
"""


class _Answer(InstallOutput):
    """Waits for the answer among what the import prints."""

    answered = False
    error: str | None = None
    """Why the import failed."""
    missing: tuple[str, ...] = ()
    """Which of the system's libraries could not be loaded, where it failed."""

    def feed(self, line: str) -> None:
        """Take one line of the output."""
        if line.startswith(_ANSWER):
            answer = json.loads(line.removeprefix(_ANSWER))
            self.answered, self.error, self.missing = True, answer["error"], tuple(answer["missing"])


def check_import(framework: Framework, work: Workbench) -> None:
    """Import the framework with the environment's interpreter; HopscopeError says what it lacks.

    A missing driver is no failure: it is the machine's, and may be there when a program is launched.
    """
    output = _Answer(f"importing {framework.title} once")
    code = work.run(
        [str(work.python), "-I", "-u", "-c", _TRY, framework.module, *framework.system_libraries],
        output,
        {"HOPSCOPE_TRACE": "0"},
    )
    problem = _problem(framework, code, output)
    if problem:
        raise HopscopeError(f"{framework.title} cannot be imported: {problem}; log: {work.log}")


def _problem(framework: Framework, code: int, output: _Answer) -> str | None:
    if code < 0:
        return f"that ends with {signal.Signals(-code).name}"
    if not output.answered:
        return f"that ends Python with status {code}"
    if output.error is None:
        return None
    named = _LIBRARY.search(output.error)
    missing = list(output.missing)
    if named and named.group(1) not in missing:
        missing.append(named.group(1))
    if missing == [DRIVER_LIBRARY] and framework.needs_driver:
        return None
    return _missing_words(framework, missing) if missing else output.error.partition("\n")[0]


def _missing_words(framework: Framework, missing: list[str]) -> str:
    words = f"this machine lacks {' and '.join(missing)}"
    known = [
        framework.system_libraries[library] for library in missing if library in framework.system_libraries
    ]
    if not known:
        return words
    apt, dnf = (" ".join(names) for names in zip(*known, strict=True))
    return f"{words}: apt-get install {apt}, or dnf install {dnf}, and try again"
