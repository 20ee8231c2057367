"""The files of a run's folder, which every reader opens here, without trust in who made them.

The folder may come from somebody else. A link in it could lead to a key file, a FIFO would never answer, a
device would do whatever opening does to it: only regular files are read, by their names within the folder.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 64 << 20
"""Of a file that is read as a whole."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def is_plain(name: str) -> bool:
    """Whether a name that came from somewhere is a name in a folder, and no way out of it."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name and os.sep not in name


def descriptor(folder: Path, name: str) -> int:
    """Open a file of a run's folder and return its descriptor; `name` may lead through its own folders.

    OSError where it is missing, where it or a folder before it is a link, and where it is no regular file.
    """
    *folders, last = name.split("/")
    if not all(map(is_plain, (*folders, last))):
        raise OSError(errno.EINVAL, "it is not a name within the run's folder", name)
    with _opened_folder(folder, folders) as parent:
        found = _open(last, _FILE, parent)
    try:
        if not stat.S_ISREG(os.fstat(found).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", name)
    except BaseException:
        os.close(found)
        raise
    return found


def open_file(folder: Path, name: str) -> BinaryIO:
    """Open a file of a run's folder for reading, as `descriptor` does."""
    return os.fdopen(descriptor(folder, name), "rb")


def read_file(folder: Path, name: str, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file of a run's folder; OSError also where it is larger than `most_bytes`."""
    with open_file(folder, name) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes >> 10:,} KiB", name)
    return data


def names(folder: Path, name: str) -> list[str]:
    """Return what is in a folder of a run's folder, sorted; OSError where there is no folder, or a link."""
    with _opened_folder(folder, name.split("/")) as found, os.scandir(found) as entries:
        return sorted(entry.name for entry in entries)


def facts(folder: Path, name: str) -> os.stat_result:
    """Return the facts of a regular file of a run's folder; OSError as `descriptor`."""
    found = descriptor(folder, name)
    try:
        return os.fstat(found)
    finally:
        os.close(found)


def is_file(folder: Path, name: str) -> bool:
    """Whether a run's folder has a regular file of this name."""
    with contextlib.suppress(OSError):
        facts(folder, name)
        return True
    return False


@contextlib.contextmanager
def _opened_folder(folder: Path, inner: list[str]) -> Iterator[int]:
    """Open a folder that is no link, and through it folders within that are none either."""
    current = os.open(folder, _FOLDER | os.O_NOFOLLOW)
    try:
        for name in inner:
            if not is_plain(name):
                raise OSError(errno.EINVAL, "it is not a name within the run's folder", name)
            below = _open(name, _FOLDER | os.O_NOFOLLOW, current)
            os.close(current)
            current = below
        yield current
    finally:
        os.close(current)


def _open(name: str, flags: int, parent: int) -> int:
    try:
        return os.open(name, flags, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK) or _is_link(name, parent):
            raise OSError(errno.ELOOP, "it is a link, which is not followed", name) from None
        if error.errno in (errno.ENXIO, errno.EOPNOTSUPP):  # a socket
            raise OSError(errno.EINVAL, "it is not a regular file", name) from None
        raise


def _is_link(name: str, parent: int) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    return False


def next_data(descriptor: int, offset: int) -> int:
    """Return the offset, from `offset` on, where a file has something: what it lacks takes no time to read.

    The end of the file where nothing follows; `offset` itself where the file system doesn't know.
    """
    try:
        return os.lseek(descriptor, offset, os.SEEK_DATA)
    except OSError as error:
        return os.fstat(descriptor).st_size if error.errno == errno.ENXIO else offset
