"""An install under way: its lock, its log, how far it is, and what became of it. Standard library only.

The stamp is written last, so an install that was cut off is done again, and finds what it had put in place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TextIO

from runners.environments.install_output import InstallOutput
from runners.environments.logged_command import follow
from runners.environments.virtualenv import Recipe, VirtualEnvironment, take, write_json
from runners.errors import HopscopeError

_POLL_S = 0.1
_SAVE_EVERY_S = 0.5
# A reader that looks whether the lock is held takes it for an instant; an installer tries for longer.
_LOCK_PATIENCE_S = 1.0


@dataclasses.dataclass(frozen=True)
class Step:
    """What an install is doing: in words, how far (0 to 1, None while unknown), and for how many seconds."""

    text: str
    fraction: float | None
    seconds: float


Report = Callable[[Step], None]


class Workbench:
    """One install under way; the lock is held, by what it runs too, so that it outlives a killed parent."""

    def __init__(
        self, environment: VirtualEnvironment, recipe: Recipe, lock: TextIO, report: Report, started: float
    ) -> None:
        self.environment = environment
        self.recipe = recipe
        self.path = environment.path
        self.python = environment.python
        self.log = environment.log
        self._lock = lock
        self._report = report
        self._started = started
        self._started_wall = time.time()
        self._saved = 0.0
        self._step = Step("starting", None, 0.0)

    def begin(self) -> None:
        """Start anew, with an empty log, where there is room for it and nothing of the user's."""
        self._refuse_foreign_folder()
        self._refuse_full_disk()
        self.log.write_text("")
        for stamp in self.path.glob(".hopscope-*.json"):
            stamp.unlink()
        self.tell(f"making {self.path}", None)

    def run(self, argv: list[str], output: InstallOutput, variables: Mapping[str, str] | None = None) -> int:
        """Run a command with its output in the log, following it there, and return its exit status."""
        environ = {**os.environ, "PIP_USER": "0", **(variables or {})}
        for name in ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "__PYVENV_LAUNCHER__"):
            environ.pop(name, None)

        def heard(lines: list[str]) -> None:
            for line in lines:
                output.feed(line)
            self.tell(output.step, output.fraction)

        return follow(argv, environ, self.log, self._lock.fileno(), heard)

    def tell(self, text: str, fraction: float | None) -> None:
        """Say what is being done now, and how far it is."""
        self._step = Step(text, fraction, time.monotonic() - self._started)
        self._report(self._step)
        if time.monotonic() - self._saved > _SAVE_EVERY_S:
            self._saved = time.monotonic()
            self.save("installing")

    def save(self, state: str, reason: str | None = None) -> None:
        """Write the progress file; a full disk must not hide the reason why the install ended."""
        progress = {
            "state": state,
            "step": self._step.text,
            "fraction": self._step.fraction,
            "started": self._started_wall,
            "updated": time.time(),
            "pid": os.getpid(),
            "label": self.recipe.label,
            "reason": reason,
            **self.recipe.facts,
        }
        with contextlib.suppress(OSError):
            write_json(self.environment.progress_file, progress)

    def _refuse_foreign_folder(self) -> None:
        if not self.path.exists() or (self.path / "pyvenv.cfg").exists():
            return
        if any(not entry.is_dir() for entry in self.path.rglob("*")):
            raise HopscopeError(
                f"{self.path} exists and is no virtual environment; move it away and start again"
            )

    def _refuse_full_disk(self) -> None:
        folder = self.path.parent
        free, need = shutil.disk_usage(folder).free, self.recipe.disk_bytes
        if free < need:
            raise HopscopeError(
                f"no space left on the disk: {self.recipe.label} takes about {need / 1e9:.1f} GB in {folder}"
                f" and {free / 1e9:.1f} GB is free; free some, or set HOPSCOPE_ENVS to a folder elsewhere"
            )


@contextlib.contextmanager
def prepared(
    environment: VirtualEnvironment, recipe: Recipe, report: Report, clear: bool = False
) -> Iterator[Workbench | None]:
    """Yield what installs `recipe`, None where it is there, and note at the end what became of it.

    Waits while another process installs there. `clear`: it is done in any case. HopscopeError with the reason
    in one line where it fails.
    """
    if environment.is_current(recipe) and not clear:
        yield None
        return
    started = time.monotonic()
    with _usable_places(environment), environment.lock_file.open("a+") as lock:
        waited = _acquire(environment, lock, report, started)
        if environment.is_current(recipe) and (waited or not clear):
            yield None
            return
        work = Workbench(environment, recipe, lock, report, started)
        try:
            yield work
            shutil.rmtree(environment.downloads, ignore_errors=True)
            environment.write_stamp(recipe)
        except OSError as error:
            explained = _explain(error, environment)
            work.save("failed", reason=str(explained))
            raise explained from None
        except HopscopeError as error:
            work.save("failed", reason=str(error))
            raise
        except BaseException:
            work.save("interrupted")
            raise
        work.save("ready")


@contextlib.contextmanager
def _usable_places(environment: VirtualEnvironment) -> Iterator[None]:
    try:
        environment.lock_file.parent.mkdir(parents=True, exist_ok=True)
        environment.path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise _explain(error, environment) from None


def _explain(error: OSError, environment: VirtualEnvironment) -> HopscopeError:
    place = error.filename or environment.path
    return HopscopeError(
        f"cannot use {place}: {error.strerror}; mend that, or set HOPSCOPE_ENVS to a folder where the"
        " environments can be made"
    )


def _acquire(environment: VirtualEnvironment, lock: TextIO, report: Report, started: float) -> bool:
    """Take the lock; True if another installer had it first."""
    patience = time.monotonic() + _LOCK_PATIENCE_S
    while time.monotonic() < patience:
        if take(lock, fcntl.LOCK_EX):
            return False
        time.sleep(_POLL_S / 10)
    while not take(lock, fcntl.LOCK_EX):
        text, fraction = environment.under_way()
        text = f"waiting for another start that installs here: {text}"
        report(Step(text, fraction, time.monotonic() - started))
        time.sleep(_POLL_S)
    return True
