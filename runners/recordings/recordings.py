"""The recordings that the Machine page can replay: the files in one folder, added, listed and removed."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import os
import re
import secrets
from pathlib import Path
from typing import IO

from probes import private_files
from runners.errors import HopscopeError, UsageError
from runners.printable import printable
from runners.recordings.playback import Playback
from runners.recordings.recording_file import (
    GZIP,
    HOLDS,
    Header,
    Recorder,
    Recording,
    read_header,
    read_recording,
)
from runners.runs import run_files
from runners.runs.registry import home

__all__ = [
    "HOLDS",
    "Entry",
    "Header",
    "Playback",
    "Recorder",
    "Recording",
    "add",
    "find",
    "folder",
    "listed",
    "read_header",
    "read_recording",
    "remove",
]

MOST_UPLOADED = 64 << 20
"""Bytes of a file that is taken in."""
_ENDS = (".jsonl.gz", ".jsonl")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}(?:\.jsonl|\.jsonl\.gz)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 60
_PIECE = 1 << 20


@dataclasses.dataclass(frozen=True)
class Entry:
    """One recording of the folder."""

    id: str
    """The file's name, by which an address names it."""
    path: Path
    bytes: int
    header: Header | None
    problem: str | None
    """Why it cannot be replayed."""


def folder() -> Path:
    """Return the folder of recordings; it may not exist yet."""
    return home() / "recordings"


def listed() -> list[Entry]:
    """Return the folder's recordings, the newest first; what is none is among them with its reason."""
    try:
        paths = [path for path in folder().iterdir() if _is_recording(path.name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HopscopeError(f"the recordings in {folder()} cannot be listed: {error.strerror}") from None
    entries = []
    for path in paths:
        # Removed meanwhile.
        with contextlib.suppress(FileNotFoundError):
            entries.append(_entry(path))
    return sorted(
        entries, key=lambda entry: (entry.header.made if entry.header else 0.0, entry.id), reverse=True
    )


def find(name: str) -> Path:
    """Return the file of the recording with this id; UsageError where there is none."""
    if not _is_recording(name):
        raise UsageError(f"there is no recording {printable(name)[:80]!r}")
    return folder() / name


def add(name: str, content: IO[bytes]) -> Entry:
    """Take a recording into the folder; its id is made of `name`.

    HopscopeError, and nothing kept, where it is not a recording or too large.
    """
    private_files.make_folder(str(folder()))
    draft = folder() / f".adding-{secrets.token_hex(4)}"
    try:
        made = private_files.open_file(str(draft), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        with os.fdopen(made, "wb") as file:
            taken = 0
            while piece := content.read(_PIECE):
                taken += len(piece)
                if taken > MOST_UPLOADED:
                    raise UsageError(
                        f"{name} is larger than {MOST_UPLOADED >> 20} MiB, so it is not taken in"
                    )
                file.write(piece)
        recording = _read_as(name, draft)
        with run_files.open_file(folder().resolve(), draft.name) as file:
            end = ".jsonl.gz" if file.read(len(GZIP)) == GZIP else ".jsonl"
        return _entry(_settle(draft, _stem(name, recording.header), end))
    except OSError as error:
        raise HopscopeError(f"{name} cannot be kept in {folder()}: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)


def remove(name: str) -> None:
    """Delete a recording of the folder; UsageError where there is none."""
    try:
        find(name).unlink()
    except OSError as error:
        raise HopscopeError(f"the recording {name} cannot be removed: {error.strerror}") from None


def _is_recording(name: str) -> bool:
    """Whether a file of the folder, which is no link, has such a name."""
    return _NAME.fullmatch(name) is not None and run_files.is_file(folder().resolve(), name)


def _entry(path: Path) -> Entry:
    size = path.stat().st_size
    try:
        return Entry(path.name, path, size, read_header(path), None)
    except HopscopeError as error:
        return Entry(path.name, path, size, None, str(error))


def _read_as(name: str, draft: Path) -> Recording:
    """Read a file whose own name nobody knows."""
    try:
        return read_recording(draft)
    except HopscopeError as error:
        raise UsageError(str(error).replace(draft.name, name[:80])) from None


def _stem(name: str, header: Header) -> str:
    stem = name.rpartition("/")[2]
    for end in _ENDS:
        stem = stem.removesuffix(end)
    stem = _UNSAFE.sub("-", stem).strip(".-_")[:_LONGEST_NAME]
    if stem:
        return stem
    made = datetime.datetime.fromtimestamp(header.made, datetime.UTC).strftime("%Y-%m-%d-%H%M")
    return f"{_UNSAFE.sub('-', header.hostname).strip('.-_')[:30] or 'machine'}-{made}"


def _settle(draft: Path, stem: str, end: str) -> Path:
    """Give the file a name that is free, whoever else takes names meanwhile."""
    for number in range(1, 1000):
        path = draft.with_name(f"{stem}{'' if number == 1 else f'-{number}'}{end}")
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
            return path
    raise UsageError(f"there are too many recordings of the name {stem}; remove some first")
