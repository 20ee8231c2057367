"""Bringing a virtual environment to what it must hold, with uv. Standard library only."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from runners.environments.install_output import InstallOutput
from runners.environments.pythons import PythonRange, search_path
from runners.environments.uv import as_uv_variables, get_uv, pip_settings, without_index
from runners.environments.virtualenv import Recipe, VirtualEnvironment, python_folder
from runners.environments.workbench import Report, Workbench, prepared
from runners.errors import HopscopeError

_LOCKED = ("--require-hashes", "--only-binary", ":all:")


def install(
    environment: VirtualEnvironment,
    recipe: Recipe,
    python: PythonRange,
    report: Report,
    clear: bool = False,
    check: Callable[[Workbench], None] | None = None,
) -> None:
    """Bring `environment` to `recipe`, made with such a Python where there is none.

    Waits while another process installs there. `clear` makes it anew in any case. `check` is called when all
    is in place; what it raises fails the install. HopscopeError with the reason in one line where it fails.
    Interrupted or killed at any point, the next call goes on from there.
    """
    with prepared(environment, recipe, report, clear) as work:
        if work is None:
            return
        anew = clear or not _usable(environment)
        if anew:
            work.begin()
        else:
            _remove_half_installed(environment)
        uv = _Uv(work)
        if anew:
            uv.make(python)
        uv.fill()
        if check is not None:
            check(work)


def pythons_folder(side: Path) -> Path:
    """Where the Pythons are that uv fetched for the environments in `side`."""
    return side / "pythons"


class _Uv:
    """uv at work for one install."""

    def __init__(self, work: Workbench) -> None:
        side = work.environment.lock_file.parent
        self._work = work
        self._uv = get_uv(side, work, work.recipe.lock is not None)
        settings = pip_settings()
        self._no_index = ["--no-index"] if without_index(settings) else []
        # On the environment's own disk, so that nothing is copied or left behind.
        self._variables = {"UV_CACHE_DIR": str(work.environment.downloads)} | as_uv_variables(settings)
        self._variables["UV_PYTHON_INSTALL_DIR"] = str(pythons_folder(side))
        if work.recipe.lock:
            # A limit has no hash, and what is locked has a version.
            self._variables.pop("UV_CONSTRAINT", None)
        self._variables |= {name: os.environ[name] for name in self._variables if name in os.environ}
        self._variables |= {"UV_PYTHON_INSTALL_BIN": "0", "UV_NO_PROGRESS": "1", "PATH": search_path()}

    def make(self, python: PythonRange) -> None:
        """Create the environment."""
        path = self._work.path
        output = InstallOutput(f"making {path}")
        if self._run(["venv", "--clear", "--no-project", "--python", python.request, str(path)], output):
            why = output.failure()
            told = f"cannot make {path}: {why}" if python.here else python.missing(why)
            raise HopscopeError(f"{told}; log: {self._work.log}")

    def fill(self) -> None:
        """Install all packages, and add the recipe's own files."""
        recipe = self._work.recipe
        wanted = recipe.lock or recipe
        self._install(wanted.requirements)
        if wanted.without_dependencies:
            self._install(wanted.without_dependencies, "--no-deps")
        for folder in _site_packages(self._work.environment):
            for name, content in recipe.files.items():
                (folder / name).write_text(content)

    def _install(self, files: tuple[Path, ...], *more: str) -> None:
        argv = ["pip", "install", "--python", str(self._work.python), "--compile-bytecode", *self._no_index]
        argv += [*more, *(_LOCKED if self._work.recipe.lock else ())]
        for file in files:
            argv += ["-r", str(file)]
        output = InstallOutput()
        if self._run(argv, output):
            raise HopscopeError(
                f"cannot install the packages of {self._work.recipe.label}: {output.failure()}; the next try"
                f" goes on from here; log: {self._work.log}"
            )

    def _run(self, argv: list[str], output: InstallOutput) -> int:
        # Not in the user's folder: a project there has settings of its own.
        away = ["--directory", str(self._work.log.parent)]
        return self._work.run([self._uv, "--color", "never", *away, *argv], output, self._variables)


def _usable(environment: VirtualEnvironment) -> bool:
    python = environment.python
    if not (python.exists() and _site_packages(environment)):
        return False
    return subprocess.run([python, "-I", "-c", ""], capture_output=True, check=False).returncode == 0


def _site_packages(environment: VirtualEnvironment) -> list[Path]:
    path = environment.path
    return sorted(path.glob(f"lib/{python_folder(path)}/site-packages"))


def _remove_half_installed(environment: VirtualEnvironment) -> None:
    """Forget packages that an install was cut off in: these two files are written last."""
    for folder in _site_packages(environment):
        for info in folder.glob("*.dist-info"):
            if not all((info / name).exists() for name in ("INSTALLER", "RECORD")):
                shutil.rmtree(info)
