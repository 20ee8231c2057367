"""Small files that only their owner may read: tokens and keys."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from probes import private_files

MOST_BYTES = 1 << 16


def read_private(path: Path) -> bytes | None:
    """The content of a file that is its owner's alone, `MOST_BYTES` at most.

    None where it is missing, cannot be read, is no plain file, or where another user made it or may open it.
    """
    with contextlib.suppress(OSError):
        # O_NONBLOCK: not to wait for the other end of a named pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            facts = os.fstat(descriptor)
            private = not facts.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            if private and facts.st_uid == os.geteuid() and stat.S_ISREG(facts.st_mode):
                # Of a folder no file object can be made, which would leave the descriptor open.
                with os.fdopen(descriptor, "rb", closefd=False) as opened:
                    return opened.read(MOST_BYTES)
        finally:
            os.close(descriptor)
    return None


def create_private(path: Path, content: bytes) -> bool:
    """Create a file that only its owner may read; False where there is one by now. Raises OSError."""
    with _draft(path, content) as draft:
        try:
            # Whole or not at all, and the first of several processes wins.
            path.hardlink_to(draft)
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            draft.replace(path)
    return True


def replace_private(path: Path, content: bytes) -> None:
    """Put a file that only its owner may read in the place of whatever is there. Raises OSError."""
    with _draft(path, content) as draft:
        draft.replace(path)


@contextlib.contextmanager
def _draft(path: Path, content: bytes) -> Iterator[Path]:
    private_files.make_folder(str(path.parent))
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = private_files.open_file(str(draft), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
        yield draft
    finally:
        draft.unlink(missing_ok=True)
