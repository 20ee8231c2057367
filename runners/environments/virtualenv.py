"""One virtual environment and what is installed in it, known from the disk alone. Standard library only.

Beside the environment's folder lie NAME.lock (held while an install runs), NAME.queue (held while one is yet
to come), NAME.log (what uv said), NAME.json (how far it is) and NAME.tmp (uv's downloads). A stamp inside
the environment says what it holds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

# An installer that lives saves its progress twice a second.
_STALE_S = 10.0
_LOCK_PATIENCE_S = 1.0
_LOCK_POLL_S = 0.01


@dataclasses.dataclass(frozen=True)
class Lock:
    """What a recipe's requirement files lead to: each package in one version, with its wheels' hashes."""

    requirements: tuple[Path, ...]
    without_dependencies: tuple[Path, ...] = ()


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What to install: requirement files, under a label of its own within the environment."""

    label: str
    requirements: tuple[Path, ...]
    without_dependencies: tuple[Path, ...] = ()
    """Requirement files whose packages are installed last and alone, whatever else they ask for."""
    disk_bytes: int = 0
    """About how much space an install takes, downloads included; checked before the first."""
    facts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Kept in the stamp, for whoever asks what this environment is."""
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Put beside the packages when they are there: name -> content."""
    lock: Lock | None = None
    """Where given, this is installed, and nothing else than the wheels with these hashes."""

    def fingerprint(self) -> str:
        """Changes whenever the content of a requirement file does, or what is put beside the packages.

        A locked set meets the recipe that it was made from, so its fingerprint is the same.
        """
        digest = _digest((*self.requirements, *self.without_dependencies))
        for name, content in self.files.items():
            digest.update(f"{name}\0{content}\0".encode())
        return digest.hexdigest()

    def lock_fingerprint(self) -> str | None:
        """Changes whenever the locked set does; None where there is none."""
        if self.lock is None:
            return None
        return _digest((*self.lock.requirements, *self.lock.without_dependencies)).hexdigest()


def _digest(files: Iterable[Path]) -> hashlib._Hash:
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes() + b"\0")
    return digest


class VirtualEnvironment:
    """The environment at `path`; its lock, log and progress are `side`/`name`.*."""

    def __init__(self, path: Path, side: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.python = path / "bin" / "python"
        self.lock_file = side / f"{name}.lock"
        self.queue_file = side / f"{name}.queue"
        self.log = side / f"{name}.log"
        self.progress_file = side / f"{name}.json"
        self.downloads = side / f"{name}.tmp"

    def stamp(self, label: str) -> dict[str, Any] | None:
        """What the last finished install of `label` noted, or None when none was finished for this Python."""
        stamp = read_json(self._stamp_file(label))
        if stamp is None or stamp.get("interpreter") != os.path.realpath(self.python):
            return None
        return stamp if self.python.exists() else None

    def is_current(self, recipe: Recipe) -> bool:
        """Whether everything in `recipe` is installed; one small file is read for it."""
        stamp = self.stamp(recipe.label)
        if stamp is None or stamp["fingerprint"] != recipe.fingerprint():
            return False
        return recipe.lock is None or stamp.get("lock") == recipe.lock_fingerprint()

    def busy(self) -> bool:
        """Whether some process is installing into this environment now."""
        return _held(self.lock_file)

    def queued(self) -> bool:
        """Whether some process is going to install into this environment."""
        return _held(self.queue_file)

    @contextlib.contextmanager
    def in_queue(self) -> Iterator[TextIO]:
        """Show that this process is going to install here, until the file that this yields is closed."""
        self.queue_file.parent.mkdir(parents=True, exist_ok=True)
        with self.queue_file.open("w") as place:
            patience = time.monotonic() + _LOCK_PATIENCE_S
            # A reader holds it for an instant; another process that is going to do the same, for long.
            while not take(place, fcntl.LOCK_EX) and time.monotonic() < patience:
                time.sleep(_LOCK_POLL_S)
            yield place

    def progress(self) -> dict[str, Any] | None:
        """The last saved progress: {state: installing|failed|ready, step, fraction, started, reason, ..}."""
        return read_json(self.progress_file)

    def under_way(self) -> tuple[str, float | None]:
        """What the install that holds the lock is doing, and how far it is, where that is known."""
        progress = self.progress()
        if progress is None or progress["state"] != "installing":
            return "starting", None
        if time.time() - progress["updated"] > _STALE_S:
            return f"uv goes on without the start that began it; it writes {self.log}", None
        return progress["step"], progress["fraction"]

    def _stamp_file(self, label: str) -> Path:
        return self.path / f".hopscope-{label}.json"

    def write_stamp(self, recipe: Recipe) -> None:
        """Note that `recipe` is all there."""
        stamp = {
            "fingerprint": recipe.fingerprint(),
            "lock": recipe.lock_fingerprint(),
            "interpreter": os.path.realpath(self.python),
            "finished": time.time(),
            **recipe.facts,
        }
        write_json(self._stamp_file(recipe.label), stamp)


def _held(lock_file: Path) -> bool:
    try:
        with lock_file.open("r") as lock:
            return not take(lock, fcntl.LOCK_SH)
    except OSError:
        return False


def take(lock: TextIO, kind: int) -> bool:
    """Take the lock, LOCK_SH or LOCK_EX, if nobody has it."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def python_folder(environment: Path) -> str:
    """The `python3.11` of lib/python3.11, for the interpreter that the environment runs."""
    try:
        lines = (environment / "pyvenv.cfg").read_text().splitlines()
    except OSError:
        return "python*"
    settings = dict(line.partition(" = ")[::2] for line in lines)
    version = settings.get("version", settings.get("version_info", "")).split(".")
    return f"python{version[0]}.{version[1]}" if len(version) > 1 else "python*"


def read_json(file: Path) -> dict[str, Any] | None:
    """The object in `file`; None where there is none, or half of one."""
    try:
        content = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Replace `file` in one step, so that a reader sees the old or the new."""
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        partial.write_text(json.dumps(content) + "\n")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
