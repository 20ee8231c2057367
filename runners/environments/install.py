"""Bringing a virtual environment to what it must hold, with pip. Standard library only.

The stamp is written last, so an install that was cut off is done again, and finds what it had put in place.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, TextIO

from runners.environments.logged_command import follow
from runners.environments.pip_output import PipOutput
from runners.environments.virtualenv import Recipe, VirtualEnvironment, python_folder, take, write_json
from runners.errors import HopscopeError

_POLL_S = 0.1
_SAVE_EVERY_S = 0.5
# A reader that looks whether the lock is held takes it for an instant; an installer tries for longer.
_LOCK_PATIENCE_S = 1.0
_LOCKED = ("--require-hashes", "--only-binary", ":all:")
# Of smaller downloads nobody waits for the end.
_LARGE_BYTES = 5_000_000


@dataclasses.dataclass(frozen=True)
class Step:
    """What an install is doing: in words, how far (0 to 1, None while unknown), and for how many seconds."""

    text: str
    fraction: float | None
    seconds: float


Report = Callable[[Step], None]


class Workbench(Protocol):
    """An install under way, for what is done as a part of it."""

    @property
    def python(self) -> Path:
        """The environment's interpreter."""

    @property
    def log(self) -> Path:
        """What the commands that are run print."""

    def tell(self, text: str, fraction: float | None) -> None:
        """Say what is being done now, and how far it is."""

    def run(self, argv: list[str], output: PipOutput, variables: Mapping[str, str] | None = None) -> int:
        """Run a command, followed by `output`, and return its exit status."""


def install(
    environment: VirtualEnvironment,
    recipe: Recipe,
    base_python: str | Callable[[Workbench], str],
    report: Report,
    clear: bool = False,
    check: Callable[[Workbench], None] | None = None,
) -> None:
    """Bring `environment` to `recipe`, made from `base_python`, or what that finds, where there is none.

    Waits while another process installs there. `clear` makes it anew in any case. `check` is called when all
    is in place; what it raises fails the install. HopscopeError with the reason in one line where it fails.
    Interrupted or killed at any point, the next call goes on from there.
    """
    if environment.is_current(recipe) and not clear:
        return
    started = time.monotonic()
    with _usable_places(environment), environment.lock_file.open("a+") as lock:
        waited = _acquire(environment, lock, report, started)
        if environment.is_current(recipe) and (waited or not clear):
            return
        work = _Install(environment, recipe, lock, report, started)
        try:
            work.make(base_python, clear)
            work.fill()
            if check is not None:
                check(work)
            work.clean()
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


class _Install:
    """One install under way; the lock is held, by pip too, so that it outlives a killed parent."""

    def __init__(
        self, environment: VirtualEnvironment, recipe: Recipe, lock: TextIO, report: Report, started: float
    ) -> None:
        self._environment = environment
        self._recipe = recipe
        self._lock = lock
        self._report = report
        self._started = started
        self._started_wall = time.time()
        self._saved = 0.0
        self._step = Step("starting", None, 0.0)

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self._environment.python

    @property
    def log(self) -> Path:
        """What the commands that are run print."""
        return self._environment.log

    def make(self, base_python: str | Callable[[Workbench], str], clear: bool) -> None:
        """Create the environment where there is no usable one."""
        environment = self._environment
        if not clear and self._usable():
            self._remove_half_installed()
            return
        self._refuse_foreign_folder()
        self._refuse_full_disk()
        environment.log.write_text("")
        self.tell(f"making {environment.path}", None)
        base = base_python if isinstance(base_python, str) else base_python(self)
        self._check_venv_module(base)
        argv = [base, "-I", "-m", "venv", "--clear", str(environment.path)]
        self._forget_stamps()
        output = PipOutput(f"making {environment.path}")
        if self.run(argv, output):
            reason = output.failure() or _last_line(environment.log)
            raise HopscopeError(f"cannot make {environment.path}: {reason}; log: {environment.log}")

    def fill(self) -> None:
        """Run pip until everything is installed, and add the recipe's own files."""
        wanted = self._recipe.lock or self._recipe
        options = _LOCKED if self._recipe.lock else ()
        self._pip(wanted.requirements, *options)
        if wanted.without_dependencies:
            self._pip(wanted.without_dependencies, "--no-deps", *options)
        path = self._environment.path
        for name, content in self._recipe.files.items():
            (path / "lib" / python_folder(path) / "site-packages" / name).write_text(content)

    def _pip(self, files: tuple[Path, ...], *options: str) -> None:
        environment = self._environment
        self.clean()
        argv = [str(environment.python), "-I", "-u", "-m", "pip", "install", "--no-input", *options]
        argv += ["--disable-pip-version-check", "--progress-bar", "off"]
        for file in files:
            argv += ["-r", str(file)]
        output = PipOutput()
        code = self.run(argv, output)
        self.clean()
        if code:
            reason = output.failure() or _last_line(environment.log)
            raise HopscopeError(
                f"cannot install the packages of {self._recipe.label}: {reason}; the next try goes on from"
                f" here; log: {environment.log}"
            )

    def clean(self) -> None:
        """Remove what was downloaded."""
        shutil.rmtree(self._environment.downloads, ignore_errors=True)

    def save(self, state: str, reason: str | None = None) -> None:
        """Write the progress file; a full disk must not hide the reason why the install ended."""
        progress = {
            "state": state,
            "step": self._step.text,
            "fraction": self._step.fraction,
            "started": self._started_wall,
            "updated": time.time(),
            "pid": os.getpid(),
            "label": self._recipe.label,
            "reason": reason,
            **self._recipe.facts,
        }
        with contextlib.suppress(OSError):
            write_json(self._environment.progress_file, progress)

    def tell(self, text: str, fraction: float | None) -> None:
        """Say what is being done now, and how far it is."""
        self._step = Step(text, fraction, time.monotonic() - self._started)
        self._report(self._step)
        if time.monotonic() - self._saved > _SAVE_EVERY_S:
            self._saved = time.monotonic()
            self.save("installing")

    def _usable(self) -> bool:
        python = self._environment.python
        if not python.exists() or not self._site_packages("pip-*.dist-info/RECORD"):
            return False
        return (
            subprocess.run([python, "-I", "-c", "import pip"], capture_output=True, check=False).returncode
            == 0
        )

    def _site_packages(self, pattern: str) -> list[Path]:
        python = python_folder(self._environment.path)
        return sorted(self._environment.path.glob(f"lib/{python}/site-packages/{pattern}"))

    def _remove_half_installed(self) -> None:
        """Forget packages that pip was cut off in: it writes their RECORD last."""
        for info in self._site_packages("*.dist-info"):
            if not (info / "RECORD").exists():
                shutil.rmtree(info)

    def _refuse_foreign_folder(self) -> None:
        path = self._environment.path
        if not path.exists() or (path / "pyvenv.cfg").exists():
            return
        if any(not entry.is_dir() for entry in path.rglob("*")):
            raise HopscopeError(f"{path} exists and is no virtual environment; move it away and start again")

    def _refuse_full_disk(self) -> None:
        folder = self._environment.path.parent
        free, need = shutil.disk_usage(folder).free, self._recipe.disk_bytes
        if free < need:
            raise HopscopeError(
                f"no space left on the disk: {self._recipe.label} takes about {need / 1e9:.1f} GB in {folder}"
                f" and {free / 1e9:.1f} GB is free; free some, or set HOPSCOPE_ENVS to a folder elsewhere"
            )

    def _check_venv_module(self, base_python: str) -> None:
        if base_python == sys.executable and not (
            importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")
        ):
            version = f"{sys.version_info[0]}.{sys.version_info[1]}"
            raise HopscopeError(
                f"this Python lacks the modules venv and ensurepip; install them (Debian and Ubuntu: apt-get"
                f" install python{version}-venv) and start again"
            )

    def _forget_stamps(self) -> None:
        for stamp in self._environment.path.glob(".hopscope-*.json"):
            stamp.unlink()

    def run(self, argv: list[str], output: PipOutput, variables: Mapping[str, str] | None = None) -> int:
        """Run `argv` with its output in the log, following it there; returns its exit status."""
        environment = self._environment
        environ = {**os.environ, "TMPDIR": str(environment.downloads), "PIP_USER": "0", **(variables or {})}
        for name in ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "__PYVENV_LAUNCHER__"):
            environ.pop(name, None)
        environment.downloads.mkdir(exist_ok=True)
        began = time.time()

        def heard(lines: list[str]) -> None:
            for line in lines:
                output.feed(line)
            self._tell_output(output, began)

        return follow(argv, environ, environment.log, self._lock.fileno(), heard)

    def _tell_output(self, output: PipOutput, began: float) -> None:
        text, downloaded, installed = output.step, None, 0
        if output.download is not None:
            downloaded = self._downloaded(output.download.name)
            if downloaded and output.download.size and output.download.size > _LARGE_BYTES:
                text = f"{text}, {min(1.0, downloaded / output.download.size):.0%} of it here"
        if output.total is not None:
            installed = sum(
                1 for file in self._site_packages("*.dist-info/RECORD") if file.stat().st_mtime >= began - 1
            )
            text = f"installing {min(installed + 1, output.total)} of {output.total} packages"
        self.tell(text, output.fraction(installed, downloaded))

    def _downloaded(self, name: str) -> int | None:
        for file in self._environment.downloads.glob(f"pip-*/{name}"):
            with contextlib.suppress(OSError):
                return file.stat().st_size
        return None


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it stopped without saying why"
