"""What a run of a program leaves behind: its end, its output, its files."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import hashlib
import os
import re
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

LIMIT_S = 120.0
_LEFT_S = 20.0
"""How long what a program started may outlive it."""
_SET_CHILD_SUBREAPER = 36
_OF_THE_MOMENT = (
    (re.compile(rb"(?m)^([IWEF])\d{4} [\d:.]+ +\d+ "), rb"\1 "),
    (re.compile(rb"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: "), b""),
    (re.compile(rb"\b0x[0-9a-f]{6,16}\b"), b"0x"),
    (re.compile(rb"\[\d\d:\d\d:\d\d\] "), b""),
    (re.compile(rb"/20\d\d(_\d\d){5}/"), b"/"),
    (re.compile(rb"__autograph_generated_file\w+"), b"__autograph_generated_file"),
)
"""Times and process ids that the frameworks put before the lines of their logs; names by chance."""


@dataclasses.dataclass(frozen=True)
class Observed:
    """One run of a program."""

    end: str
    """``status 0``, ``signal SIGTERM``, ``still running after 240 s``."""
    out: bytes
    err: bytes
    files: Mapping[str, tuple[str, ...]]
    """By path in the working folder: kind, permissions, and what it holds."""
    left: tuple[str, ...]
    """Processes that had to be killed."""
    seconds: float

    def differences(self, other: Observed, ignored: Sequence[str] = ()) -> list[str]:
        """What differs from another run, a line each; empty where nothing does. `ignored` are files."""
        lines = []
        if self.end != other.end:
            lines.append(f"end: {self.end}, then {other.end}")
        lines += _bytes_differ("standard output", self.out, other.out)
        lines += _bytes_differ("standard error", self.err, other.err)
        for path in sorted({*self.files, *other.files}):
            before, after = self.files.get(path), other.files.get(path)
            if before != after and Path(path).parts[0] not in ignored:
                lines.append(f"file {path}: {_said(before)}, then {_said(after)}")
        if self.left != other.left:
            lines.append(f"processes left: {list(self.left)}, then {list(other.left)}")
        return lines


def observe(words: Sequence[str], work: Path, env: Mapping[str, str]) -> Observed:
    """Run a command in an empty folder `work` to its end and that of all that it started."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    out, err = work.with_name("out"), work.with_name("err")
    start = time.monotonic()
    with out.open("wb") as stdout, err.open("wb") as stderr, _adopting_orphans():
        strangers = _children()
        child = subprocess.Popen(
            words,
            cwd=work,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = child.wait(LIMIT_S)
            end = f"status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            end = f"still running after {LIMIT_S:.0f} s"
        left = _wait_for_orphans(strangers)
    seconds = time.monotonic() - start
    return Observed(end, _lasting(out), _lasting(err), _files(work), left, seconds)


@contextlib.contextmanager
def _adopting_orphans() -> Iterator[None]:
    """Make this process the parent of what the programs leave running, and of nothing after that."""
    libc = ctypes.CDLL(None)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _wait_for_orphans(strangers: Set[int]) -> tuple[str, ...]:
    """Wait for all children but `strangers`; the commands of those that went on too long and were killed."""
    deadline = time.monotonic() + _LEFT_S
    left: list[str] = []
    while orphans := _children() - strangers:
        for pid in orphans:
            os.waitpid(pid, os.WNOHANG)
        if time.monotonic() > deadline:
            left += _kill(_children() - strangers)
            deadline = time.monotonic() + _LEFT_S
        time.sleep(0.02)
    return tuple(sorted(left))


def _children() -> set[int]:
    lists = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for children in lists for pid in children.read_text().split()}


def _kill(pids: Iterable[int]) -> list[str]:
    killed = []
    for pid in pids:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        killed.append(words.strip())
        os.kill(pid, signal.SIGKILL)
    return killed


def _lasting(path: Path) -> bytes:
    """Output without what differs from moment to moment."""
    data = path.read_bytes()
    for form, instead in _OF_THE_MOMENT:
        data = form.sub(instead, data)
    return data


def _files(work: Path) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for folder, folders, names in os.walk(work):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *names):
            path = Path(folder, name)
            about = path.lstat()
            kind = stat.filemode(about.st_mode)
            owner = f"{about.st_uid}:{about.st_gid}"
            held: tuple[str, ...] = ()
            if stat.S_ISLNK(about.st_mode):
                held = (str(path.readlink()),)
            elif stat.S_ISREG(about.st_mode):
                with path.open("rb") as file:
                    held = (f"{about.st_size} bytes", hashlib.file_digest(file, "sha256").hexdigest()[:12])
            found[str(path.relative_to(work))] = (kind, owner, *held)
    return found


def _said(held: tuple[str, ...] | None) -> str:
    return "missing" if held is None else " ".join(held)


def _bytes_differ(what: str, before: bytes, after: bytes) -> list[str]:
    if before == after:
        return []
    lines, others = before.split(b"\n"), after.split(b"\n")
    at = next((at for at, pair in enumerate(zip(lines, others, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        at = min(len(lines), len(others))
    first = lines[at] if at < len(lines) else b""
    second = others[at] if at < len(others) else b""
    return [f"{what} line {at + 1}: {first[:160]!r}, then {second[:160]!r}"]
