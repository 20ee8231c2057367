"""The frameworks' environments, one each, because no one environment can hold them all.

What state one is in is read off the disk, so every process and every viewer sees the same.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, NoReturn

from runners.errors import HopscopeError, UsageError
from runners.frameworks import BUILDS, FRAMEWORKS, Framework, base_python, choose_build
from runners.install import Report
from runners.install import install as install_into
from runners.virtualenv import VirtualEnvironment

State = Literal["missing", "installing", "ready", "failed"]

ROOT = Path(__file__).resolve().parents[1]
_WORKER_START_S = 5.0

# Run by the environment's own interpreter: is the module there, and is it a build for GPUs?
_LOOK = """
import importlib.util, json, pathlib, sys
spec = importlib.util.find_spec(sys.argv[1])
found = {"found": spec is not None, "cuda": False}
if spec is not None and spec.origin:
    info = pathlib.Path(spec.origin).parent / "python" / "platform" / "build_info.py"
    found["cuda"] = info.exists() and "'is_cuda_build', True" in info.read_text()
print(json.dumps(found))
"""


@dataclasses.dataclass(frozen=True)
class Environment:
    """A framework's environment as it stands now."""

    name: str
    path: Path
    python: Path
    """Its interpreter, whether it exists yet or not."""
    state: State
    reason: str | None
    """Why it failed or is missing; for a ready one, what the user should know about it."""
    progress: float | None
    """0 to 1 while installing; None when pip has not told how much there is to do."""
    step: str | None
    """What the install is doing now."""
    log: Path
    build: str | None
    """`cpu` or `gpu`; None where nothing is installed."""


def folder() -> Path:
    """Where the frameworks' environments are: $HOPSCOPE_ENVS, or .venvs in the clone."""
    chosen = os.environ.get("HOPSCOPE_ENVS")
    return Path(chosen).expanduser().absolute() if chosen else ROOT / ".venvs"


def environment(framework: str) -> Environment:
    """The state of `framework`'s environment, read from the disk. UsageError for an unknown framework."""
    known = _known(framework)
    if own := _users_own(known):
        return own
    virtual = _virtual(known)
    progress = virtual.progress()
    stamp = virtual.stamp(known.name)
    build = stamp["build"] if stamp else (progress or {}).get("build")

    def now(state: State, reason: str | None = None) -> Environment:
        step, fraction = virtual.under_way() if state == "installing" else (None, None)
        shown = build if state != "missing" else None
        return Environment(
            known.name, virtual.path, virtual.python, state, reason, fraction, step, virtual.log, shown
        )

    if virtual.busy():
        return now("installing")
    if stamp and virtual.is_current(known.recipe(stamp["build"])):
        return now("ready", _slower_than_could_be(known, stamp["build"]))
    if progress is None:
        found = _look(virtual.python, known.module)
        if found:
            build = found
            return now("ready", "not made by Hopscope, used as it is")
        return now("missing")
    if progress["state"] == "failed":
        return now("failed", progress.get("reason"))
    if progress["state"] == "ready":
        return now("missing", "what it must hold has changed since it was made")
    return now("missing", "its install was interrupted; the next one goes on from there")


def environments() -> list[Environment]:
    """The state of every framework's environment."""
    return [environment(name) for name in FRAMEWORKS]


def require(framework: str) -> Environment:
    """The ready environment of `framework`; HopscopeError saying what to do where it is not ready."""
    found = environment(framework)
    if found.state == "ready":
        return found
    title = FRAMEWORKS[framework].title
    if found.state == "installing":
        raise HopscopeError(
            f"{title}'s environment is being installed ({found.step}); try again when it is ready"
        )
    because = f": {found.reason}" if found.reason else ""
    raise HopscopeError(
        f"{title}'s environment is {found.state}{because}; install it with: python3 -m app setup"
        f" --framework {framework}"
    )


def install(framework: str, build: str | None = None, report: Report | None = None) -> Environment:
    """Install `framework`'s environment and return it when it is ready; waits for another process's install.

    `build` is `cpu`, `gpu` or, None, what the machine calls for; what is ready then stays as it is.
    `report` is called a few times a second. HopscopeError with the reason in one line where it fails.
    """
    known = _known(framework)
    if build is not None and build not in BUILDS:
        raise UsageError(f"no build {build!r}: it is cpu or gpu")
    now = environment(framework)
    if now.state == "ready" and build in (None, now.build):
        return now
    virtual = _virtual(known)
    ours = virtual.progress() is not None
    if _users_own(known) or (now.state == "ready" and not ours):
        what = now.reason or "not made by Hopscope"
        raise HopscopeError(f"{now.path} is left alone: {what}")
    wanted = build or choose_build()[0]
    # Builds share module names, so one is never laid over the other.
    another = now.build is not None and now.build != wanted
    install_into(virtual, known.recipe(wanted), base_python(known), report or _quiet, clear=another)
    return environment(framework)


def start_background_install(frameworks: Iterable[str] = (), build: str | None = None) -> list[str]:
    """Install what is not ready in a process of its own, and return which those are.

    Without `frameworks`, all of them. The process outlives the thread that asked for it; a second call while
    one runs starts nothing. `stop_background_install` ends it; the next start goes on from there.
    """
    wanted = [name for name in frameworks or FRAMEWORKS if environment(name).state in ("missing", "failed")]
    wanted = [name for name in wanted if not _users_own(_known(name))]
    if wanted:
        _worker.start(wanted, build)
    return wanted


def retry(framework: str, build: str | None = None) -> None:
    """Try a failed or missing environment again, in the background."""
    start_background_install([framework], build)


def stop_background_install() -> None:
    """Stop the install that this process started, if one runs; what it put in place stays."""
    _worker.stop()


class _Worker:
    """The installing process of this server: at most one at a time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, frameworks: list[str], build: str | None) -> None:
        """Start it, and return once it installs (or has ended already), so that the state shows it."""
        with self._guard:
            if self._process is not None and self._process.poll() is None:
                return
            argv = [sys.executable, "-m", "runners.environments", *frameworks]
            if build:
                argv += ["--build", build]
            self._process = subprocess.Popen(
                argv,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            process = self._process
        threading.Thread(target=process.wait, name="environment-install", daemon=True).start()
        deadline = time.monotonic() + _WORKER_START_S
        while process.poll() is None and time.monotonic() < deadline:
            if any(_virtual(_known(name)).busy() for name in frameworks):
                return
            time.sleep(0.02)

    def stop(self) -> None:
        """Ask it to stop and wait for it: it ends its pip first."""
        with self._guard:
            process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait()


_worker = _Worker()


def _known(framework: str) -> Framework:
    try:
        return FRAMEWORKS[framework]
    except KeyError:
        names = ", ".join(FRAMEWORKS)
        raise UsageError(f"no framework {framework!r}: there is {names}") from None


def _virtual(framework: Framework) -> VirtualEnvironment:
    return VirtualEnvironment(folder() / framework.name, folder(), framework.name)


def _users_own(framework: Framework) -> Environment | None:
    """The environment that the user named with $HOPSCOPE_TENSORFLOW (and so on), if any."""
    variable = f"HOPSCOPE_{framework.name.upper()}"
    chosen = os.environ.get(variable)
    if not chosen:
        return None
    path = Path(chosen).expanduser().absolute()
    python = path / "bin" / "python"
    build = _look(python, framework.module)
    reason = f"named by ${variable}" if build else f"${variable} names {path}, which has no {framework.title}"
    return Environment(
        framework.name,
        path,
        python,
        "ready" if build else "failed",
        reason,
        None,
        None,
        folder() / f"{framework.name}.log",
        build,
    )


def _look(python: Path, module: str) -> str | None:
    """Which build of `module` this interpreter has, or None; remembered while nothing changes."""
    try:
        changed = max(
            entry.stat().st_mtime_ns for entry in python.parents[1].glob("lib/python*/site-packages")
        )
    except (OSError, ValueError):
        return None
    return _look_once(python, module, changed) if python.exists() else None


@functools.lru_cache(maxsize=32)
def _look_once(python: Path, module: str, changed: int) -> str | None:
    answer = subprocess.run([python, "-I", "-c", _LOOK, module], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        return None
    found = json.loads(answer.stdout)
    if not found["found"]:
        return None
    return "gpu" if found["cuda"] else "cpu"


def _slower_than_could_be(framework: Framework, build: str) -> str | None:
    if build == "gpu":
        return None
    suits, why = _suits()
    if suits == "cpu":
        return None
    return f"this is the CPU build, and {why}: python3 -m app setup --framework {framework.name} --build gpu"


_suits: Callable[[], tuple[str, str]] = functools.lru_cache(maxsize=1)(choose_build)


def _quiet(_step: object) -> None:
    pass


def _main() -> NoReturn:
    """Install the frameworks named as arguments, one after the other; what became of it is on the disk."""
    names = sys.argv[1:]
    build = None
    if "--build" in names:
        at = names.index("--build")
        build = names[at + 1]
        del names[at : at + 2]

    def stop(_number: int, _frame: object) -> NoReturn:
        sys.exit(143)

    signal.signal(signal.SIGTERM, stop)
    failed = False
    for name in names:
        try:
            install(name, build)
        except HopscopeError:
            failed = True
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    _main()
