"""Installing the frameworks' environments beside the dashboard, where an operator asks for it.

The install is a process of its own.

It outlives a dashboard that is killed. What became of it is read off the disk: `environments.environment`.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import NoReturn

from runners.environments import environments
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import HopscopeError

_START_S = 5.0
_POLL_S = 0.02
_STOP_GRACE_S = 12.0

_preferred: str | None = None


def prefer(build: str | None) -> None:
    """Install this build, `cpu` or `gpu`, where none is named; None for what suits the machine."""
    global _preferred
    _preferred = build


def room_words(framework: str) -> str:
    """How much space an install needs and where, in words."""
    build = _preferred or environments.suited_build(framework)
    need = FRAMEWORKS[framework].disk_bytes[build]
    return f"the {build.upper()} build needs {need / 1e9:.1f} GB in {environments.folder() / framework}"


def start(frameworks: Iterable[str], build: str | None = None) -> list[str]:
    """Install those that are not ready, one after the other, and return which those are.

    What is being installed, or waits for that, is not started again. `stop` ends it; the next start goes on
    from there.
    """
    wanted = [
        name
        for name in frameworks
        if environments.environment(name).state in ("missing", "failed")
        and not environments.is_users_own(name)
    ]
    if wanted:
        _installers.start(wanted, build or _preferred)
    return wanted


def stop() -> None:
    """Stop the installs that this process started, if any runs; what they put in place stays."""
    _installers.stop()


class _Installers:
    """The installing processes of this server: one for all at its start, another for what is tried again."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, frameworks: list[str], build: str | None) -> None:
        """Start one, and return once it has begun (or has ended already), so that the state shows it."""
        argv = [sys.executable, "-m", "runners.environments.background_install", *frameworks]
        if build:
            argv += ["--build", build]
        with self._guard:
            process = subprocess.Popen(
                argv,
                cwd=environments.ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            self._processes = [*(one for one in self._processes if one.poll() is None), process]
        threading.Thread(target=process.wait, name="environment-install", daemon=True).start()
        deadline = time.monotonic() + _START_S
        while process.poll() is None and time.monotonic() < deadline:
            if any(environments.environment(name).state == "installing" for name in frameworks):
                return
            time.sleep(_POLL_S)

    def stop(self) -> None:
        """Ask them to stop and wait for them: each ends its uv first."""
        with self._guard:
            processes, self._processes = self._processes, []
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            try:
                process.wait(_STOP_GRACE_S)
            except subprocess.TimeoutExpired:
                # It leads its session, so this ends its uv too.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


_installers = _Installers()


def _main() -> NoReturn:
    """Install the frameworks named as arguments, one after the other; what became of it is on the disk."""
    names = sys.argv[1:]
    build = None
    if "--build" in names:
        at = names.index("--build")
        build = names[at + 1]
        del names[at : at + 2]

    def stop_now(_number: int, _frame: object) -> NoReturn:
        sys.exit(143)

    signal.signal(signal.SIGTERM, stop_now)
    failed = False
    with contextlib.ExitStack() as queue:
        places = {name: queue.enter_context(environments.in_queue(name)) for name in names}
        for name, place in places.items():
            try:
                environments.install(name, build)
            except HopscopeError:
                failed = True
            place.close()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    _main()
