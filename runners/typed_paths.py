"""Paths as people type them, which may be none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from runners.errors import UsageError

_LONGEST_SHOWN = 80


def possible(path: str | Path) -> Path:
    """Return a path that a file may have; UsageError for one that the system does not take.

    It is too long, or it has a NUL. Whether there is such a file is not judged.
    """
    try:
        os.lstat(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{_shown(path)} is not a path: it is too long") from None
    except ValueError:
        raise UsageError(f"{_shown(path)} is not a path") from None
    return Path(path)


def _shown(path: str | Path) -> str:
    text = str(path)
    return ascii(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..")
