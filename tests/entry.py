"""Makes what the tests need and runs pytest on all of them. Standard library only until pytest runs.

python3 -m tests [PYTEST ARGS]                      everything
python3 -m tests --tensorflow 2.15 [PYTEST ARGS]    the integration tests on an older TensorFlow
python3 -m tests --prepare                          only make it; prints the interpreter that has the tools
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from app.bootstrap import dashboard_recipe, enter, tell_failure
from app.console_progress import ConsoleProgress
from runners.environments import environments
from runners.environments.frameworks import FRAMEWORKS, TESTED_BESIDE
from runners.environments.install import install
from runners.environments.virtualenv import VirtualEnvironment
from runners.errors import HopscopeError, UsageError

ROOT = Path(__file__).resolve().parents[1]
SIDE_BY_SIDE = ("-n", "4", "--dist", "loadfile")
"""More files at once than a small machine has cores, since tests wait a good part."""
IN_THE_BROWSER = ("-n", "3", "--dist", "loadfile")
AGAIN = ("-n", "0", "--last-failed", "--last-failed-no-failures", "none", "--maxfail", "3")
_FAILED, _NONE = 1, 5
"""Statuses of pytest: some tests failed; none was chosen."""


def main(argv: list[str]) -> int:
    """Prepare, run pytest, and return the exit status."""
    try:
        arguments, older, prepare_only = _parse(argv)
        whole = True
        again = [str(ROOT / "tests"), *argv]
        enter(dashboard_recipe(), again)
        enter(dashboard_recipe("tests", ROOT / "tests" / "requirements.txt"), again)
        if older:
            _use_older(older)
        else:
            whole = _prepare_frameworks()
    except HopscopeError as error:
        return tell_failure(error)
    except KeyboardInterrupt:
        return 130
    if prepare_only:
        print(sys.executable)
        return 0 if whole else 1
    os.chdir(ROOT)
    if any(Path(argument.partition("::")[0]).exists() for argument in arguments):
        return _pytest(arguments)
    folders = ["tests/integration"] if older else ["tests/integration", "tests/unit"]
    first = _twice_in_ci([*SIDE_BY_SIDE, *arguments, *folders])
    if older or first not in (0, _FAILED, _NONE):
        return first
    # In the browser they look at how soon things are seen: three files at a time, and no others beside them.
    second = _twice_in_ci([*IN_THE_BROWSER, *arguments, "tests/e2e"])
    return min(first, second) if _NONE in (first, second) else max(first, second)


def _twice_in_ci(arguments: list[str]) -> int:
    """Run pytest, and return its exit status; in CI a few tests that failed run once more, one at a time.

    Its machines are shared: a test that fails there beside others and passes alone is named in the output
    and fails nothing.
    """
    status = _pytest(arguments)
    if status != _FAILED or not os.environ.get("CI"):
        return status
    print("== Some tests failed. They run once more, one at a time.", flush=True)
    status = _pytest([*arguments, *AGAIN])
    if status == 0:
        print("== They pass alone: look into the ones that are named FAILED above.", flush=True)
    return status


def _pytest(arguments: list[str]) -> int:
    """Run pytest, and return its exit status; an interrupt is pytest's to answer."""
    sys.stdout.flush()
    with subprocess.Popen([sys.executable, "-m", "pytest", *arguments]) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def _parse(argv: list[str]) -> tuple[list[str], str | None, bool]:
    """Our own options apart from pytest's."""
    rest = list(argv)
    older = None
    if "--tensorflow" in rest:
        at = rest.index("--tensorflow")
        older = rest[at + 1] if at + 1 < len(rest) else ""
        del rest[at : at + 2]
        if older not in TESTED_BESIDE:
            raise UsageError(f"--tensorflow takes one of: {', '.join(TESTED_BESIDE)}")
    prepare_only = "--prepare" in rest
    if prepare_only:
        rest.remove("--prepare")
    return rest, older, prepare_only


def _prepare_frameworks() -> bool:
    """Make every framework's environment; False where one cannot be had: its tests then skip and say why."""
    whole = True
    for name in FRAMEWORKS:
        now = environments.environment(name)
        if now.state == "ready":
            continue
        try:
            with ConsoleProgress(f"Preparing {now.path} (once)") as console:
                environments.install(name, report=console.tell)
        except HopscopeError as error:
            tell_failure(error)
            whole = False
    return whole


def _use_older(version: str) -> None:
    framework = TESTED_BESIDE[version]
    folder = environments.folder()
    virtual = VirtualEnvironment(folder / framework.name, folder, framework.name)
    recipe = framework.recipe("cpu")
    if not virtual.is_current(recipe):
        with ConsoleProgress(f"Preparing {virtual.path} (once)") as console:
            install(virtual, recipe, environments.python_range(framework), console.tell)
    os.environ["HOPSCOPE_TENSORFLOW"] = str(virtual.path)
