"""Deleting a folder of the registry so that nothing outside it can be hit, whoever changes it meanwhile.

All is done through descriptors of the folders themselves, by names that are never followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path

PREFIX = ".removed-"
"""Begins the name of a folder that is being deleted."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOUNTS = Path("/proc/self/mountinfo")


def remove(registry: Path, name: str) -> None:
    """Delete the folder of this name in a folder, or the link of this name and not what it leads to.

    OSError where that is refused, where it is neither, and where another file system is mounted within: then
    all is as before. What was left of deletions that were cut short is deleted too.
    """
    descriptor = os.open(registry, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            os.unlink(name, dir_fd=descriptor)
            return
        _require_unmounted(registry, name)
        # Renamed first, so that nobody reads a folder that is half gone.
        own = _set_aside(descriptor, name, facts)
        for left in _names(descriptor):
            if left.startswith(PREFIX) and left != own:
                with contextlib.suppress(OSError):
                    _delete(descriptor, left)
        # Another deletion may be at it too.
        with contextlib.suppress(FileNotFoundError):
            _delete(descriptor, own)
    finally:
        os.close(descriptor)


def _set_aside(registry: int, name: str, facts: os.stat_result) -> str:
    """Give the folder with these facts a name by which it is no run, and return that."""
    aside = f"{PREFIX}{secrets.token_hex(8)}"
    os.rename(name, aside, src_dir_fd=registry, dst_dir_fd=registry)
    moved = os.stat(aside, dir_fd=registry, follow_symlinks=False)
    if not stat.S_ISDIR(moved.st_mode) or not os.path.samestat(moved, facts):
        os.rename(aside, name, src_dir_fd=registry, dst_dir_fd=registry)
        raise OSError(errno.EAGAIN, "something else has its name now", name)
    return aside


def _delete(registry: int, name: str) -> None:
    """Delete a folder that was set aside, or a link of such a name.

    However deep it is, two folders are open at a time: each inner folder is moved up before it is emptied.
    The kernel moves no mounted file system and nothing out of one, so none is emptied.
    """
    try:
        top = os.open(name, _FOLDER, dir_fd=registry)
    except OSError:
        if stat.S_ISDIR(os.stat(name, dir_fd=registry, follow_symlinks=False).st_mode):
            raise
        os.unlink(name, dir_fd=registry)
        return
    try:
        os.fchmod(top, stat.S_IRWXU)
        while inner := _inner_folders(top):
            for folder in inner:
                _empty(top, folder)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=registry)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _inner_folders(top: int) -> list[str]:
    """Delete the files and links of a folder and return its folders."""
    folders = []
    for name in _names(top):
        if stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
            folders.append(name)
        else:
            os.unlink(name, dir_fd=top)
    return folders


def _empty(top: int, name: str) -> None:
    """Delete an inner folder, with its files; its own folders are moved up into `top`."""
    aside = secrets.token_hex(8)
    # Refused where a file system is mounted there.
    os.rename(name, aside, src_dir_fd=top, dst_dir_fd=top)
    inner = os.open(aside, _FOLDER, dir_fd=top)
    try:
        os.fchmod(inner, stat.S_IRWXU)
        for folder in _inner_folders(inner):
            os.rename(folder, secrets.token_hex(8), src_dir_fd=inner, dst_dir_fd=top)
    finally:
        os.close(inner)
    os.rmdir(aside, dir_fd=top)


def _require_unmounted(registry: Path, name: str) -> None:
    """Refuse a folder with something mounted in it before anything of it is deleted."""
    folder = str(registry.resolve() / name)
    with contextlib.suppress(FileNotFoundError, PermissionError):
        for line in MOUNTS.read_bytes().splitlines():
            mounted = os.fsdecode(_plain(line.split(b" ")[4]))
            if mounted == folder or mounted.startswith(folder + "/"):
                raise OSError(errno.EBUSY, "a file system is mounted in it; unmount that first", mounted)


def _plain(text: bytes) -> bytes:
    r"""Return a path of the mount table, where a space is ``\040``, as it is."""
    for code in (b"\\040", b"\\011", b"\\012"):
        text = text.replace(code, bytes([int(code[1:], 8)]))
    return text.replace(b"\\134", b"\\")
