"""A recording of a machine: what its sampler said, line by line, to be replayed elsewhere.

JSON lines, gzip where the name ends in .gz: first a header {format, version, made, hostname, hopscope, hz,
gpus}, then the sampler's messages. They hold the users and the command lines of the machine's processes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import gzip
import json
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from probes.nvml.snapshot import Message, Snapshot, is_missing
from runners.errors import HopscopeError, UsageError
from runners.recordings.recorded_message import MOST_GPUS, Unfit, parse_message, parse_object
from runners.runs import run_files
from runners.typed_paths import possible
from runners.version import VERSION

FORMAT = "hopscope-recording"
FORMAT_VERSION = 1
HOLDS = "it holds the users and the command lines of this machine's processes"
"""What whoever makes a recording, or gives one away, should know."""

MOST_BYTES = 64 << 20
"""How much of a recording is read, uncompressed: some hours of 8 GPUs at one sample a second."""
MOST_LINES = 100_000
LONGEST_LINE = 4 << 20
LONGEST_GAP_S = 10.0
"""What a longer time between two samples is replayed as."""

_WHOLE_EVERY_S = 60.0
_FLUSH_EVERY = 10
GZIP = b"\x1f\x8b"
"""What gzip begins with."""


class Recorder:
    """Writes a recording. The file is made with the first sample, so that a failed start leaves none."""

    def __init__(self, path: Path, overwrite: bool = False) -> None:
        """UsageError where `path` exists and is not to be overwritten, or cannot be a file."""
        possible(path)
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file in it, such as {path / 'machine.jsonl.gz'}")
        if not overwrite and path.exists():
            raise UsageError(f"{path} exists; name another file, or add --overwrite")
        if not path.absolute().parent.is_dir():
            raise UsageError(f"there is no folder {path.absolute().parent} to write {path.name} into")
        self.path = path
        self.samples = 0
        self.bytes = 0
        """Size of the file once it is closed."""
        self.first_t = self.last_t = 0.0
        self._overwrite = overwrite
        self._raw: IO[bytes] | None = None
        self._file: IO[bytes] | gzip.GzipFile | None = None
        self._last: tuple[int, float] | None = None
        self._whole_t = 0.0

    def add(self, message: Message, snapshot: Snapshot) -> None:
        """Append a sample, given with the snapshot it leads to. HopscopeError where it can't be written."""
        now = (snapshot["seq"], snapshot["t"])
        if now == self._last:
            # News of the sampler, not of the machine.
            return
        whole = message.get("full") or self._last is None or snapshot["t"] - self._whole_t >= _WHOLE_EVERY_S
        try:
            if self._file is None:
                self._open(snapshot)
                self.first_t = snapshot["t"]
            if whole:
                self._whole_t = snapshot["t"]
                message = {**snapshot, "full": True}
            self._write({name: value for name, value in message.items() if name != "sampler"})
            self.samples += 1
            # A recorder that is killed loses a few samples at most.
            self._flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                self.close()
            raise HopscopeError(f"{self.path} cannot be written: {error.strerror or error}") from None
        self._last = now
        self.last_t = snapshot["t"]

    def close(self) -> None:
        """Finish the file."""
        file, self._file = self._file, None
        raw, self._raw = self._raw, None
        if file is None or raw is None:
            return
        try:
            if file is not raw:
                file.close()
            raw.flush()
            self.bytes = os.fstat(raw.fileno()).st_size
        finally:
            raw.close()

    def _open(self, snapshot: Snapshot) -> None:
        if not self._overwrite:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        # Command lines are nobody else's business until their owner gives them away.
        self._raw = os.fdopen(os.open(self.path, flags, 0o600), "wb")
        self._file = (
            gzip.GzipFile(filename="", fileobj=self._raw, mode="wb", mtime=0)
            if self.path.name.endswith(".gz")
            else self._raw
        )
        names = [gpu.get("name") for gpu in snapshot["gpus"]]
        host = snapshot.get("host", {}).get("hostname")
        self._write(
            {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "made": datetime.datetime.fromtimestamp(time.time(), datetime.UTC).isoformat(
                    timespec="seconds"
                ),
                "hostname": host if isinstance(host, str) else "",
                "hopscope": VERSION,
                "hz": snapshot.get("hz", 1.0),
                "gpus": ["?" if is_missing(name) or name is None else name for name in names],
            }
        )

    def _write(self, value: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n")

    def _flush(self) -> None:
        if isinstance(self._file, gzip.GzipFile):
            if self.samples % _FLUSH_EVERY == 1:
                self._file.flush(zlib.Z_SYNC_FLUSH)
        elif self._file is not None:
            self._file.flush()


@dataclasses.dataclass(frozen=True)
class Header:
    """What a recording says of itself."""

    made: float
    """Epoch seconds."""
    hostname: str
    hopscope: str
    """The version that made it."""
    hz: float
    gpus: tuple[str, ...]
    """The cards' names."""


@dataclasses.dataclass(frozen=True)
class Recording:
    """A recording that was read; every message is one that a sampler might have said."""

    header: Header
    lines: tuple[bytes, ...]
    """The messages as JSON, the first a whole one."""
    whole: tuple[int, ...]
    """The places of those that are whole, ascending; 0 is one of them."""
    offsets: tuple[float, ...]
    """When each is due, seconds after the first; ascending."""
    notes: tuple[str, ...]
    """What people should know: what could not be read, what was left out."""

    def message(self, place: int) -> Message:
        """Return the message at a place."""
        message: Message = json.loads(self.lines[place])
        return message


def read_header(path: Path) -> Header:
    """Return what a recording says of itself, from its first line alone; HopscopeError where it is none."""
    with _opened(path) as lines:
        return _header(path, next(lines, b""))


def read_recording(path: Path) -> Recording:
    """Return the recording in a file of which nothing is believed; HopscopeError where it is none, in a line.

    Lines that are no messages are left out and counted; that its end is missing is told.
    """
    with _opened(path) as lines:
        header = _header(path, next(lines, b""))
        reading = _Reading(header.hz)
        for line in lines:
            reading.take(line)
    if not reading.kept:
        raise HopscopeError(f"{path.name} holds no whole sample, so there is nothing to replay")
    return Recording(
        header,
        tuple(reading.kept),
        tuple(reading.whole),
        tuple(reading.offsets),
        reading.notes(lines),
    )


class _Reading:
    """The messages of a file, line by line."""

    def __init__(self, hz: float) -> None:
        self.kept: list[bytes] = []
        self.whole: list[int] = []
        self.offsets: list[float] = []
        self.unfinished = False
        """The last line has no end."""
        self._step = 1 / hz
        self._bad = 0
        self._cards: set[int] = set()
        self._t = 0.0

    def take(self, line: bytes) -> None:
        """Take a line, or count it as one that is none of a recording."""
        if not line.endswith(b"\n"):
            if len(line) >= LONGEST_LINE:
                self._bad += 1
            else:
                self.unfinished = True
            return
        try:
            message = parse_message(line)
            cards = {gpu["index"] for gpu in message.get("gpus", ())}
            if message["full"]:
                self._cards = cards
                self.whole.append(len(self.kept))
            elif not self.kept or not cards <= self._cards:
                # It changes what nobody has told.
                raise Unfit("no whole one before")
        except Unfit:
            self._bad += bool(line.strip())
            return
        if self.kept:
            step = message["t"] - self._t
            # A clock that was set back says nothing about how long it took.
            step = min(step, LONGEST_GAP_S) if step > 0 else self._step
            self.offsets.append(self.offsets[-1] + step)
        else:
            self.offsets.append(0.0)
        self._t = message["t"]
        self.kept.append(json.dumps(message, separators=(",", ":")).encode())

    def notes(self, lines: _Lines) -> tuple[str, ...]:
        found = []
        if self._bad:
            told = "line is" if self._bad == 1 else "lines are"
            found.append(f"{self._bad} {told} not of a recording and left out")
        if lines.damaged or self.unfinished:
            found.append("its end is missing: its recorder was killed, or the file was cut")
        if lines.cut:
            found.append(
                f"only its first {len(self.kept)} samples are read: it is longer than can be replayed"
            )
        return tuple(found)


def _header(path: Path, line: bytes) -> Header:
    try:
        told = parse_object(line)
    except Unfit:
        told = {}
    if told.get("format") != FORMAT:
        raise HopscopeError(f"{path.name} is not a recording: python3 -m app devices --record makes one")
    version = told.get("version")
    if version != FORMAT_VERSION:
        raise HopscopeError(
            f"{path.name} was made by another Hopscope (format {version!r:.20}); use that one"
        )
    made, hz, gpus = told.get("made"), told.get("hz"), told.get("gpus")
    try:
        when = datetime.datetime.fromisoformat(str(made)).timestamp()
    except (ValueError, OverflowError, OSError):
        raise HopscopeError(f"{path.name} does not say when it was made, so it is not replayed") from None
    return Header(
        when,
        str(told.get("hostname", ""))[:100],
        str(told.get("hopscope", ""))[:20],
        float(hz) if isinstance(hz, (int, float)) and 0.01 <= hz <= 100 else 1.0,
        tuple(str(name)[:100] for name in gpus[:MOST_GPUS]) if isinstance(gpus, list) else (),
    )


class _Lines:
    """The lines of a file, unpacked where it is gzip; a damaged end is as good as none."""

    def __init__(self, raw: IO[bytes]) -> None:
        packed = raw.read(len(GZIP)) == GZIP
        raw.seek(0)
        self._file: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=raw) if packed else raw
        self._bytes = self._count = 0
        self._inside = False
        self.cut = False
        """There was more than is ever read."""
        self.damaged = False
        """What was packed ends, or breaks, before its end."""

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        """The next line; one longer than LONGEST_LINE comes in part and without its end."""
        while True:
            if self._bytes > MOST_BYTES or self._count > MOST_LINES:
                self.cut = True
                raise StopIteration
            try:
                line = self._file.readline(LONGEST_LINE)
            except (EOFError, gzip.BadGzipFile, zlib.error):
                self.damaged = True
                line = b""
            if not line:
                raise StopIteration
            self._bytes += len(line)
            self._count += 1
            inside, self._inside = self._inside, not line.endswith(b"\n")
            if not inside:
                return line


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[_Lines]:
    try:
        with run_files.open_file(path.parent.resolve(), path.name) as raw:
            yield _Lines(raw)
    except OSError as error:
        raise HopscopeError(f"{path.name} cannot be read: {error.strerror or error}") from None
