"""Which framework a script uses, read off its text and that of its own modules: nothing of them is run."""

from __future__ import annotations

import ast
import contextlib
import errno
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

from runners.environments.frameworks import FRAMEWORKS
from runners.python_source import parse

MOST_FILES = 100
"""Of a script with more modules of its own only the nearest are read."""
_MOST_BYTES = 8 << 20
"""Of one file; a longer one is cut and then most often no Python."""

_FRAMEWORK_OF = {module: one.name for one in FRAMEWORKS.values() for module in one.imported_as}


def framework_of(script: Path, folder: Path | None = None) -> str | None:
    """Return the framework that the script imports first, itself or through modules of its own; None without.

    `folder` is where its modules are looked for, by default where it lies.
    """
    files = [script / "__main__.py" if script.is_dir() else script]
    for file in files:
        imports = _imports(file)
        for level, module, _ in imports:
            framework = _FRAMEWORK_OF.get(module.partition(".")[0])
            if framework and level == 0:
                return framework
        for found in _own_modules(imports, file, folder or files[0].parent):
            if found not in files and len(files) < MOST_FILES:
                files.append(found)
    return None


def _content(script: Path) -> bytes:
    """What a script holds; OSError for what is no file: a device has no end, a FIFO would be waited for."""
    descriptor = os.open(script, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(script))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(_MOST_BYTES)
    finally:
        os.close(descriptor)


def _imports(script: Path) -> list[tuple[int, str, tuple[str, ...]]]:
    """Return what a file's import statements name: (leading dots, module, names taken from it), in order."""
    try:
        with warnings.catch_warnings():
            # A user's invalid escape sequence is for the script's own run to complain about.
            warnings.simplefilter("ignore")
            tree = parse(_content(script))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[tuple[int, int, str, tuple[str, ...]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, 0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append((node.lineno, node.level, node.module or "", names))
    return [(level, module, names) for _, level, module, names in sorted(found)]


def _own_modules(imports: list[tuple[int, str, tuple[str, ...]]], file: Path, folder: Path) -> Iterator[Path]:
    """Yield the files among the script's own that these import statements would run."""
    for level, module, names in imports:
        start = file.parents[level - 1] if 0 < level <= len(file.parents) else folder
        parts = module.split(".") if module else []
        paths = [start.joinpath(*parts[:count]) for count in range(1, len(parts) + 1)]
        paths += [start.joinpath(*parts, name) for name in names if name != "*"]
        for path in paths:
            for candidate in (path.with_name(path.name + ".py"), path / "__init__.py"):
                with contextlib.suppress(OSError):  # a name that is too long for a file's
                    if candidate.is_file():
                        yield candidate


def module_file(module: str, folder: Path) -> Path | None:
    """Return the file that `python -m module` would run from `folder`, None where it is not found there."""
    base = folder.joinpath(*module.split("."))
    for path in (base.with_name(base.name + ".py"), base / "__main__.py"):
        with contextlib.suppress(OSError):  # as above
            if path.is_file():
                return path
    return None
