"""Damaged files in run folders: bits flipped, cut, nested, huge, and what is no file at all."""

from __future__ import annotations

import contextlib
import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from app.reports.run_report import run_report
from runners.runs import registry
from tests.faults.bench import PROGRAM, bench

ROOT = PROGRAM.parents[2]
ANSWER_S = 180.0
"""More than a busy machine needs to read a log of gigabytes; what opens a FIFO waits for ever."""
DEEP = b"[" * 200_000
HUGE_BYTES = 3 << 30


def flipped(path: Path, chance: random.Random) -> None:
    """Some bits of the other value."""
    data = bytearray(path.read_bytes() or b"\0")
    for _ in range(chance.choice((1, 3, 50))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    """The end is missing."""
    os.truncate(path, chance.randrange(path.stat().st_size + 1))


def grown(path: Path, chance: random.Random) -> None:
    """Bytes of any kind behind the end, or in the middle."""
    data = path.read_bytes()
    at = chance.choice((len(data), chance.randrange(len(data) + 1)))
    path.write_bytes(data[:at] + chance.randbytes(chance.choice((1, 100, 10_000))) + data[at:])


def nested(path: Path, chance: random.Random) -> None:
    """JSON far deeper than a reader goes."""
    chance.choice((path.write_bytes, _appended(path)))(DEEP + b"\n")


def huge(path: Path, _chance: random.Random) -> None:
    """Gigabytes of NUL, which take no room on the disk."""
    os.truncate(path, HUGE_BYTES)


def numbers(path: Path, chance: random.Random) -> None:
    """Numbers without measure, and names that are no text."""
    number = "9" * chance.choice((20, 400, 10_000))
    text = path.read_bytes()
    digits = [at for at in range(len(text)) if text[at : at + 1].isdigit()]
    if not digits:
        return
    at = chance.choice(digits)
    odd = chance.choice((number.encode(), b'"\\ud800"', b"1e999", b"NaN"))
    path.write_bytes(text[:at] + odd + text[at + 1 :])


def fifo(path: Path, _chance: random.Random) -> None:
    """A FIFO that nobody writes to."""
    path.unlink()
    os.mkfifo(path)


def link(path: Path, chance: random.Random) -> None:
    """A link to nowhere, to itself, to a folder, to an endless device, to somebody's file."""
    path.unlink()
    path.symlink_to(chance.choice(("nowhere", path.name, "/", "/dev/zero", "/etc/passwd")))


def folder(path: Path, _chance: random.Random) -> None:
    """A folder of the same name."""
    path.unlink()
    path.mkdir()


def device(path: Path, _chance: random.Random) -> None:
    """An endless device, where root may make one."""
    path.unlink()
    with contextlib.suppress(PermissionError):
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))


def gone(path: Path, _chance: random.Random) -> None:
    """No file."""
    path.unlink()


DAMAGES: tuple[Callable[[Path, random.Random], None], ...] = (
    flipped, flipped, cut, cut, grown, nested, huge, numbers, numbers, fifo, link, folder, device, gone,
)  # fmt: skip

NO_FILE = ("nested", "huge", "fifo", "link", "folder", "device", "gone")


class Reader:
    """The process that reads what was damaged; started anew where it did not answer."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process: subprocess.Popen[str] | None = None

    def ask(self, name: str) -> str:
        """Return what it says of a run; AssertionError where it crashed, hung or ended."""
        if self._process is None:
            words = [sys.executable, "-m", "tests.faults.reader", str(self._home)]
            self._process = subprocess.Popen(
                words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(name + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], ANSWER_S)[0]:
            self.close()
            raise AssertionError(f"no answer within {ANSWER_S:g} s")
        answer = process.stdout.readline()
        if not answer:
            status = process.wait()
            self.close()
            raise AssertionError(f"the reader ended with status {status}")
        assert answer.startswith("ok "), answer.strip()
        return answer[3:].strip()

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


class Damages:
    """Rounds that share a recorded run, of which each damages a copy, and the process that reads it."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._recorded = Path()
        self._reader: Reader | None = None

    def play(self, _folder: Path, _number: int, chance: random.Random) -> None:
        """Damage one or two files of a copy, and have it read in every form."""
        recorded, reader = self._prepared()
        run = recorded.parent / f"{recorded.name}-{chance.randrange(10**6)}"
        shutil.copytree(recorded, run)
        try:
            files = sorted(path for path in run.rglob("*") if path.is_file())
            done = []
            for path in chance.sample(files, chance.choice((1, 1, 2))):
                damage = chance.choice(DAMAGES)
                done.append(f"{path.relative_to(run)} {damage.__name__}")
                damage(path, chance)
            try:
                said = reader.ask(run.name)
                assert said or not any(map(_must_be_said, done)), "nothing is said of the damage"
            except AssertionError as error:
                raise AssertionError(f"{', '.join(done)}: {error}") from None
        finally:
            shutil.rmtree(run, ignore_errors=True)

    def close(self) -> None:
        """Remove what the rounds shared."""
        if self._reader is not None:
            self._reader.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _prepared(self) -> tuple[Path, Reader]:
        if self._folder is None or self._reader is None:
            self._folder = Path(tempfile.mkdtemp(prefix="hopscope-faults-"))
            with bench(self._folder) as made:
                run = registry.wait(made.launch(steps=200), 60)
                run_report(run.path)
                self._recorded = run.path
            self._reader = Reader(made.home)
        (recorded,) = [
            path for path in (self._folder / "home" / "runs").iterdir() if path.name.count("-") == 3
        ]
        return recorded, self._reader


def _must_be_said(damage: str) -> bool:
    """Whether a file that a run must have is none any more; a value that is another can look like one."""
    file, _, kind = damage.partition(" ")
    return file in ("spec.json", "status.json") and kind in NO_FILE


def _appended(path: Path) -> Callable[[bytes], object]:
    def append(data: bytes) -> None:
        with path.open("ab") as file:
            file.write(data)

    return append


@contextlib.contextmanager
def damages() -> Iterator[Damages]:
    """The rounds; what they share is removed at the end."""
    made = Damages()
    try:
        yield made
    finally:
        made.close()
