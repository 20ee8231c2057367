"""Which runs were launched from this home, as nobody else can claim: another's run folder may hold anything.

A run that is launched is signed with a key that only the owner of this home can read. The signature covers
what a later launch would start again: the spec and the edited copies. A folder from elsewhere has none that
fits, nor has a copy of a folder: what else is in it may have been changed. A run that was launched before
there were signatures counts as received.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from probes import private_files
from runners.private_files import create_private, read_private, replace_private
from runners.runs import run_files
from runners.runs.registry import home
from runners.runs.run import SPEC_NAME, Run
from runners.runs.trial import FOLDER

KEY_NAME = "launch.key"
SIGNATURE_NAME = "launch.mac"
_KEY_BYTES = 32
_MOST_BYTES = 16 << 20
"""No spec and no source file that was launched is larger."""


def sign(folder: Path) -> None:
    """Mark the run in `folder`, which is about to be launched, as this home's own; OSError where it can't."""
    signature = _signature(folder, _key())
    private_files.write_file(str(folder / SIGNATURE_NAME), f"{signature}\n".encode())


def is_own(run: Run) -> bool:
    """Whether a run was launched from this home, and is what was launched."""
    key = read_private(home() / KEY_NAME)
    if key is None or len(key) != _KEY_BYTES:
        return False
    with contextlib.suppress(OSError, ValueError):
        kept = run_files.read_file(run.path, SIGNATURE_NAME, _MOST_BYTES).decode("ascii").strip()
        return hmac.compare_digest(kept, _signature(run.path, key))
    return False


def fingerprint(run: Run) -> str:
    """Changes with all that a launch of the run would start again; '' where that cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return _signature(run.path, b"")
    return ""


def _signature(folder: Path, key: bytes) -> str:
    made = hmac.new(key, b"%d\0" % folder.stat().st_ino, hashlib.sha256)
    for name in _covered(folder):
        content = run_files.read_file(folder, name, _MOST_BYTES)
        made.update(b"%s\0%d\0" % (os.fsencode(name), len(content)))
        made.update(content)
    return made.hexdigest()


def _covered(folder: Path) -> Iterator[str]:
    yield SPEC_NAME
    with contextlib.suppress(FileNotFoundError):
        yield from (f"{FOLDER}/{name}" for name in run_files.names(folder, FOLDER))


def _key() -> bytes:
    """This home's key, created where there is none."""
    path = home() / KEY_NAME
    for _ in range(2):
        key = read_private(path)
        if key is not None and len(key) == _KEY_BYTES:
            return key
        create_private(path, secrets.token_bytes(_KEY_BYTES))
    # One that another user can read, or that is cut, signs nothing.
    key = secrets.token_bytes(_KEY_BYTES)
    replace_private(path, key)
    return key
