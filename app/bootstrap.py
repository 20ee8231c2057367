"""From a bare Python to the dashboard's environment, and into it. Standard library only."""

from __future__ import annotations

import importlib.metadata
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from app.console_progress import ConsoleProgress
from runners.environments.install import install
from runners.environments.pythons import THIS
from runners.environments.virtualenv import Lock, Recipe, VirtualEnvironment
from runners.errors import HopscopeError, UsageError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
_LOCK = ROOT / "runners" / "requirements" / "locked" / "dashboard.txt"
_INTERRUPTED = 130


def dashboard_recipe(label: str = "dashboard", *more: Path, locked: bool = False) -> Recipe:
    """What the dashboard's environment holds: requirements.txt, and the requirement files in `more`."""
    lock = Lock((_LOCK,)) if locked else None
    return Recipe(label, (ROOT / "requirements.txt", *more), disk_bytes=850_000_000, lock=lock)


def dashboard_environment() -> VirtualEnvironment:
    """The dashboard's environment: .venv in the clone, or `dashboard` in $HOPSCOPE_ENVS."""
    chosen = os.environ.get("HOPSCOPE_ENVS")
    if chosen:
        folder = Path(chosen).expanduser().absolute()
        return VirtualEnvironment(folder / "dashboard", folder, "dashboard")
    return VirtualEnvironment(ROOT / ".venv", ROOT / ".venvs", "dashboard")


def main(argv: list[str]) -> int:
    """Run a Hopscope command in the dashboard's environment, made first where it is missing."""
    try:
        locked = argv[:1] == ["setup"] and "--locked" in argv
        enter(dashboard_recipe(locked=locked), [str(ROOT / "app"), *argv])
        from app.cli import main as command

        return command(argv)
    except HopscopeError as error:
        return tell_failure(error)
    except KeyboardInterrupt:
        return _INTERRUPTED


def enter(recipe: Recipe, argv: list[str]) -> None:
    """Return where this interpreter holds `recipe`; else install that and run `argv` with one that does.

    An environment of the user's own that meets the requirements is used as it is.
    """
    environment = dashboard_environment()
    inside = Path(sys.prefix).resolve() == environment.path.resolve()
    if environment.is_current(recipe):
        if inside:
            return
    elif not inside and satisfied(recipe):
        return
    else:
        prepare(environment, recipe)
    python = str(environment.python)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(python, [python, *argv])


def prepare(environment: VirtualEnvironment, recipe: Recipe) -> None:
    """Install `recipe` into `environment`, telling on standard error how far it is."""
    signal.signal(signal.SIGTERM, _stop)
    clear = recipe.lock is not None and environment.stamp(recipe.label) is not None
    with ConsoleProgress(f"Preparing {environment.path} (once; the next start takes seconds)") as console:
        try:
            install(environment, recipe, THIS, console.tell, clear)
        except KeyboardInterrupt:
            console.end("interrupted; the next start goes on from here")
            raise
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def tell_failure(error: HopscopeError) -> int:
    """Print the error's one line and return the exit status: 2 for a wrong request, else 1."""
    sys.stderr.write(f"hopscope: {error}\n")
    return 2 if isinstance(error, UsageError) else 1


def satisfied(recipe: Recipe) -> bool:
    """Whether this interpreter has all the named packages in versions that the requirement files allow."""
    try:
        from packaging.requirements import Requirement  # Streamlit brings it
    except ImportError:
        return False
    lines = [line for file in recipe.requirements for line in file.read_text().splitlines()]
    return all(_meets(Requirement(line)) for line in map(str.strip, lines) if line and line[0] != "#")


def _meets(requirement: Requirement) -> bool:
    if requirement.marker is not None and not requirement.marker.evaluate():
        return True
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return requirement.specifier.contains(version, prereleases=True)


def _stop(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
