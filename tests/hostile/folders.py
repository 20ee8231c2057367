"""Run folders put on the disk."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path


def wiped(folder: Path) -> Path:
    """The folder, gone: whatever stood there."""
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    else:
        # What is sealed in the background may write into it meanwhile.
        while folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
    return folder


def put_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write files by their paths in a folder."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def put_odd(path: Path, kind: str, target: Path) -> None:
    """Put what is no file in the place of one: a FIFO, a folder, a device, a link to `target`."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    match kind:
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "device":
            try:
                os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero has no end
            except PermissionError:
                path.symlink_to("/dev/zero")
        case "link":
            path.symlink_to(target)
        case "loop":
            path.symlink_to(path)
        case "unreadable":
            path.write_bytes(b"{}")
            path.chmod(0)
