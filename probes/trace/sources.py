"""Keeps the text of the user's files that have lines in the trace, beside the trace: what ran is shown later.

A file is copied when its first line comes up, in one piece, so that a kill a moment later leaves it whole.
What is not kept, and what may not be what ran, is a fact of the process, ``source_notes``: absolute path
-> why.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from typing import Callable, Optional

from .. import private_files
from .cells import cell_text, is_cell
from .edited import text_file
from .mapped import check_limit

FOLDER = "source"
MOST_BYTES = 512 << 10
"""Of one file."""
MOST_FILES = 200
MOST_ALL_BYTES = 8 << 20
"""Of all files that one process keeps."""
_SLACK_S = 2.0
"""File systems round times, and other machines' clocks differ a little."""


def kept_name(file: str) -> str:
    """The name under which the text of a file, by its absolute path, is kept."""
    name = os.path.basename(file)
    digest = hashlib.sha256(file.encode("utf-8", "surrogateescape")).hexdigest()
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
    return f"{digest[:16]}-{plain.encode('ascii', 'replace').decode().replace('?', '_')[-80:]}"


class Sources:
    """Copies each file once; nothing that goes wrong here reaches the program."""

    def __init__(self, folder: str, note: Callable[[dict[str, str]], None]) -> None:
        """Into `folder`/source; `note` is given each note."""
        self._folder = os.path.join(folder, FOLDER)
        self._note = note
        self._started = time.time()
        self._files = self._bytes = 0
        self._seen: set[str] = set()
        self._noted = 0

    def keep(self, file: str) -> None:
        """Copy a file, by its absolute path, unless that was done before."""
        if file in self._seen:
            return
        self._seen.add(file)
        if self._files >= MOST_FILES:
            # One note for all of them: the facts of a process are written anew with each.
            if self._files == MOST_FILES:
                self._files += 1
                self._note({"": f"only the first {MOST_FILES} files were kept"})
            return
        try:
            remark = self._copy_cell(file) if is_cell(file) else self._copy(file)
        except OSError as error:
            remark = f"could not be kept: {_reason(error)}"
        except (ValueError, MemoryError) as error:
            remark = f"could not be kept: {error}"
        if remark and self._noted < MOST_FILES:
            self._noted += 1
            self._note({file: remark})
        elif remark and self._noted == MOST_FILES:
            self._noted += 1
            self._note({"": f"of more than {MOST_FILES} files the text was not kept, or may not be what ran"})

    def _copy(self, file: str) -> Optional[str]:
        # A pipe or a device in place of a file would hold the program up.
        source = os.open(
            text_file(file), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
        )
        with open(source, "rb") as reading:
            known = os.fstat(source)
            if not stat.S_ISREG(known.st_mode):
                return "is not a regular file"
            if known.st_size > MOST_BYTES:
                return f"is larger than {MOST_BYTES >> 10} KiB"
            data = reading.read(MOST_BYTES)
        remark = self._unfit(data) or self._store(file, data)
        if remark is None and known.st_mtime > self._started + _SLACK_S:
            remark = "was written after the program had started: what ran may differ from it"
        return remark

    def _unfit(self, data: bytes) -> Optional[str]:
        if self._bytes + len(data) > MOST_ALL_BYTES:
            return f"all files together are larger than {MOST_ALL_BYTES >> 20} MiB"
        return "is not text" if b"\0" in data else None

    def _store(self, file: str, data: bytes) -> Optional[str]:
        target = os.path.join(self._folder, kept_name(file))
        private_files.make_folder(self._folder)
        if os.path.exists(target):  # by another process of the run
            with open(target, "rb") as earlier:
                if earlier.read() != data:
                    return "changed while the run went on: the text is that of the run's first process"
        else:
            self._write(target, data)
        self._files += 1
        self._bytes += len(data)
        return None

    def _copy_cell(self, name: str) -> Optional[str]:
        text = cell_text(name)
        if text is None:
            return "is a notebook's cell, whose text is gone"
        data = text.encode("utf-8", "surrogateescape")
        if len(data) > MOST_BYTES or self._bytes + len(data) > MOST_ALL_BYTES:
            return "is too large a cell"
        private_files.make_folder(self._folder)
        self._write(os.path.join(self._folder, kept_name(name)), data)
        self._files += 1
        self._bytes += len(data)
        return None

    @staticmethod
    def _write(target: str, data: bytes) -> None:
        check_limit(len(data))
        private_files.replace_file(target, data)


def _reason(error: OSError) -> str:
    return "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
