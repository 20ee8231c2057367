"""Files and folders that only their owner can read and change, whatever the umask is.

Everything under the home folder is made here: op names, command lines, environments and logs are nobody
else's business.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat

FOLDER_MODE, FILE_MODE = 0o700, 0o600
_CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0)


def make_folder(path: str) -> None:
    """Make a folder and the parents that are missing, all 0700; one that exists stays as it is.

    OSError as the disk has it; NotADirectoryError where something else has a name of it.
    """
    path = os.path.abspath(path)
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if parent != path:
        make_folder(parent)
    try:
        make_new_folder(path)
    except FileExistsError:
        # Another process may make the same one.
        if not os.path.isdir(path):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None


def make_new_folder(path: str) -> None:
    """Make one folder, 0700; FileExistsError where the name is in use."""
    os.mkdir(path, FOLDER_MODE)
    # The umask may have removed the owner's own bits.
    os.chmod(path, FOLDER_MODE)


def open_file(path: str, flags: int) -> int:
    """Open a file, 0600 where it is made or the owner's, and return its descriptor.

    A link, a FIFO, a device or a folder in its place is never opened: OSError.
    """
    guarded = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | _CLOSED_ON_EXEC
    # Emptied only once it is known to be a file.
    descriptor = os.open(path, guarded & ~os.O_TRUNC, FILE_MODE)
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        if stat.S_IMODE(facts.st_mode) != FILE_MODE and facts.st_uid == os.geteuid() and flags & os.O_CREAT:
            os.fchmod(descriptor, FILE_MODE)
        os.set_blocking(descriptor, True)  # who inherits it finds it as usual
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def write_file(path: str, content: bytes, sync: bool = False) -> None:
    """Write a file that is new or the owner's own, in place; `sync`: to the disk. OSError as that has it."""
    descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if sync:
            file.flush()
            os.fsync(descriptor)


def replace_file(path: str, content: bytes) -> None:
    """Replace a file as a whole: its readers see the old content or the new. OSError keeps the old."""
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(open_file(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def narrow(path: str) -> bool:
    """Take the rights of all others from a folder; whether there were any. OSError where that is refused.

    A folder that is shared by its nature, as /tmp is, stays as it is: so does one of another user.
    """
    facts = os.lstat(path)
    others = stat.S_IMODE(facts.st_mode) & 0o077
    shared = facts.st_mode & stat.S_ISVTX or os.path.samefile(path, "/") or _is_user_folder(path)
    if not stat.S_ISDIR(facts.st_mode) or not others or shared or facts.st_uid != os.geteuid():
        return False
    os.chmod(path, stat.S_IMODE(facts.st_mode) & ~0o077)
    return True


def _is_user_folder(path: str) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samefile(path, os.path.expanduser("~"))
    return False
