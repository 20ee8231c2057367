"""Standard error, sent into a file of the recorder for a while.

A program that closes descriptors it does not know, or replaces its own standard error, leaves these numbers
to other files. So each is checked before each use: the file behind it must still be the one put there.
"""

from __future__ import annotations

import os
from typing import Optional

ERROR = 2
Identity = tuple[int, int]


class Redirected:
    """A file beside the trace, and what standard error was before."""

    def __init__(self, path: str) -> None:
        """Create the file; raises OSError where that, or standard error itself, is not possible."""
        self.path = path
        self._error = _of(ERROR)
        if self._error is None:
            raise OSError("standard error is closed")
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
        self._file = os.open(path, flags, 0o600)
        self._own = _of(self._file)
        self._saved = os.dup(ERROR)
        os.set_inheritable(self._saved, False)

    def usable(self) -> bool:
        """Whether both descriptors are still the recorder's."""
        return _of(self._file) == self._own and _of(self._saved) == self._error

    def begin(self) -> bool:
        """Send standard error into the file; False where that is not possible any more."""
        now = _of(ERROR)
        if now is None or not self.usable():
            return False
        if now != self._error:  # the program has put something else there since
            os.dup2(ERROR, self._saved, inheritable=False)
            self._error = now
        os.dup2(self._file, ERROR)
        return True

    def end(self) -> None:
        """Give the program its own back, unless it has put another one there itself."""
        if _of(ERROR) == self._own and _of(self._saved) == self._error:
            os.dup2(self._saved, ERROR)

    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self._file).st_size

    def read(self, start: int, size: int) -> bytes:
        """What stands there in the file."""
        return os.pread(self._file, size, start)

    def empty(self) -> None:
        """Remove what is in the file."""
        os.ftruncate(self._file, 0)

    def write(self, data: bytes) -> None:
        """To the program's own standard error."""
        if data:
            os.write(self._saved, data)


def _of(descriptor: int) -> Optional[Identity]:
    """Device and inode of what a descriptor stands for; None where it is closed."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino
