"""Where hostile inputs are tried, with what must never be read, written, started or ended beside it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from runners.errors import HopscopeError
from tests.hostile.material import COMMAND, MARK, SECRET

CPU_LIMIT_S = 5.0
"""CPU time of one input; wall time says little on a busy machine."""
WALL_LIMIT_S = 60.0
MOST_GROWTH = 200 << 20
"""Bytes that the memory may grow by at the worst moment of one input."""
MOST_DATA = 4 << 30
"""Bytes that a worker can have at all, so that no fault takes the machine from others."""

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CHANGES = {
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.mkdir": 1,
    "os.symlink": 2,
    "os.link": 2,
    "os.chmod": 1,
    "os.chown": 1,
    "os.truncate": 1,
    "os.utime": 1,
    "shutil.rmtree": 1,
}
"""Audit events that change a file, with how many paths are their first arguments."""
_STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "os.forkpty")
_RAW_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_LIVE_MARKDOWN = re.compile(rf"(?<!\\)[\[<*$`_~:]{MARK}|https?\\?://192")


class Harm(Exception):
    """What an input did that it must not; its words are what is shown."""


class OverLimit(BaseException):
    """An input took too long; not an Exception, so that nothing on the way swallows it."""


@dataclasses.dataclass
class Ground:
    """A folder that holds all: `home` is the product's, `outside` nobody's business."""

    folder: Path
    home: Path
    outside: Path
    victim: subprocess.Popen[bytes]
    """A process that forged run folders name; it must live."""
    notes: list[str] = dataclasses.field(default_factory=list)
    """What the present input is, for whoever has to understand a failure."""
    harms: list[str] = dataclasses.field(default_factory=list)
    """What the watch saw during the present input."""
    may_start: bool = False
    """Whether an attempt to start a program is no harm; it is refused all the same."""

    @property
    def mark(self) -> Path:
        """The file that the canary program leaves when it runs."""
        return self.folder / "canary-ran"

    def note(self, what: str, content: object) -> None:
        """Remember a part of the input."""
        self.notes.append(f"{what}: {content!r}")

    def check_outside(self) -> None:
        """Raise Harm where the files outside of the home are not what they were, or the victim is gone."""
        if (now := _tree(self.outside)) != self.before:
            raise Harm(
                f"files outside of the home changed: {sorted(now.symmetric_difference(self.before))[:5]}"
            )
        if self.mark.exists():
            raise Harm("the canary program was run")
        if self.victim.poll() is not None:
            raise Harm("a process that is none of the product's was ended")

    before: frozenset[tuple[str, int, int]] = frozenset()


@contextlib.contextmanager
def prepared(folder: Path) -> Iterator[Ground]:
    """A ground in an empty folder; HOME, PATH and HOPSCOPE_HOME of this process lead into it."""
    os.umask(0o077)
    home, outside = folder / "home", folder / "outside"
    for path in (home, outside / ".ssh", outside / "bin"):
        path.mkdir(parents=True, mode=0o700)
    for name in (".ssh/id_rsa", "secret.txt", "tokens.json", "out.log"):
        (outside / name).write_text(f"{SECRET}\n")
    program = outside / "bin" / COMMAND
    program.write_text(f"#!/bin/sh\necho ran > {folder}/canary-ran\n")
    program.chmod(0o755)
    (folder / "secret-beside.txt").write_text(f"{SECRET}\n")
    os.environ |= {
        "HOME": str(outside),
        "HOPSCOPE_HOME": str(home),
        "HOPSCOPE_ENVS": str(folder / "environments"),
        "PATH": f"{outside / 'bin'}:{os.environ.get('PATH', '')}",
        "TMPDIR": str(folder / "tmp"),
    }
    (folder / "tmp").mkdir()
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as victim:
        ground = Ground(folder, home, outside, victim)
        ground.before = _tree(outside)
        try:
            yield ground
        finally:
            victim.kill()


def _tree(folder: Path) -> frozenset[tuple[str, int, int]]:
    return frozenset(
        (str(path), path.lstat().st_size, path.lstat().st_mtime_ns) for path in folder.rglob("*")
    )


def watch(ground: Ground) -> None:
    """See from now on what this process opens, changes, starts, signals and connects to."""
    inside = str(ground.folder.resolve())
    allowed = (inside + os.sep, "/dev/null", "/proc/self/", f"/proc/{os.getpid()}/", "/dev/shm/")
    forbidden = (str(ground.outside.resolve()) + os.sep, f"{inside}/secret-beside.txt")

    def place(path: Any, follow: bool) -> str:
        text = os.fsdecode(path)
        if follow:
            return os.path.realpath(text)
        parent, _, name = text.rpartition(os.sep)
        return f"{os.path.realpath(parent or os.curdir)}{os.sep}{name}"

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, str | bytes | os.PathLike):
                found = place(path, not flags & os.O_NOFOLLOW)
                if found.startswith(forbidden):
                    ground.harms.append(f"opened {found}")
                if flags & _WRITES and not found.startswith(allowed):
                    ground.harms.append(f"opened {found} for writing")
        elif event in _CHANGES:
            for path in arguments[: _CHANGES[event]]:
                if isinstance(path, str | bytes | os.PathLike) and not os.fsdecode(path).startswith(os.sep):
                    continue  # beside a folder's descriptor, or the target of a link
                if isinstance(path, str | bytes | os.PathLike):
                    found = place(path, False)
                    if event != "os.symlink" and not found.startswith(allowed):
                        ground.harms.append(f"{event} {found}")
        elif event in _STARTS:
            _refuse_start(ground, event, arguments)
        elif event in ("os.kill", "os.killpg") and arguments[1] != 0:
            ground.harms.append(f"{event} {arguments}")
        elif event == "socket.connect":
            ground.harms.append(f"connected to {arguments[1]}")

    sys.addaudithook(hook)


def _refuse_start(ground: Ground, event: str, arguments: tuple[Any, ...]) -> None:
    if not ground.may_start:
        ground.harms.append(f"{event} {str(arguments)[:300]}")
    raise HopscopeError("no program is started here")


def bounded() -> None:
    """Raise OverLimit in this thread where the present input takes longer than it may.

    An input that would have all of the machine's memory ends in MemoryError.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_DATA, MOST_DATA))

    def over(number: int, _frame: object) -> None:
        limit = f"{CPU_LIMIT_S:g} s of CPU" if number == signal.SIGPROF else f"{WALL_LIMIT_S:g} s"
        raise OverLimit(f"more than {limit}")

    signal.signal(signal.SIGPROF, over)
    signal.signal(signal.SIGALRM, over)


@contextlib.contextmanager
def within_limits() -> Iterator[None]:
    """Bound CPU time, time and memory of what runs inside; Harm where it took more memory."""
    before = _reset_peak()
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    signal.setitimer(signal.ITIMER_REAL, WALL_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    grown = _memory("VmHWM") - before
    if grown > MOST_GROWTH:
        raise Harm(f"the memory grew by {grown >> 20} MB")


def _reset_peak() -> int:
    """Begin the measuring of the peak anew; returns the bytes that are in memory now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _memory(name: str, pid: int | str = "self") -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    return 0


def memory_of(pid: int) -> int:
    """Bytes of a process that are in memory."""
    return _memory("VmRSS", pid)


def check_terminal(text: str) -> None:
    """Raise Harm where a text would steer a terminal, cannot be printed, or holds a secret."""
    if found := _RAW_CONTROL.search(text):
        around = text[max(0, found.start() - 60) : found.end() + 20]
        raise Harm(f"a raw control character is printed: {around!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Harm(f"what is printed cannot be encoded: {error}") from None
    check_secret(text)


def check_secret(text: str) -> None:
    """Raise Harm where the content of a file outside of the home stands in an answer."""
    if (at := text.find(SECRET)) >= 0:
        raise Harm(f"the content of a file outside is shown: {text[max(0, at - 200) : at + 40]!r}")


def check_markdown(body: str) -> None:
    """Raise Harm where hostile text stands in Markdown without being escaped."""
    if found := _LIVE_MARKDOWN.search(body):
        around = body[max(0, found.start() - 60) : found.end() + 20]
        raise Harm(f"Markdown is not escaped: {around!r}")


def check_html(page: str) -> None:
    """Raise Harm where a page has an element or attribute that is not the report's own."""
    parser = _Elements()
    parser.feed(page)
    parser.close()
    if parser.foreign:
        raise Harm(f"the page has {parser.foreign[:3]}")


class _Elements(HTMLParser):
    OWN = frozenset(
        (
            *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "br", "div", "strong", "b"),
            *("details", "summary", "pre", "span", "code", "table", "thead", "tbody", "tr", "th", "td"),
        )
    )
    ATTRIBUTES = frozenset(("class", "lang", "charset", "name", "content", "http-equiv"))

    def __init__(self) -> None:
        super().__init__()
        self.foreign: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in self.OWN:
            self.foreign.append(f"<{tag}>")
        self.foreign += [
            f"{name}={given!r} of <{tag}>"
            for name, given in attributes
            if name not in self.ATTRIBUTES or MARK in (given or "")
        ]

    def handle_comment(self, data: str) -> None:
        self.foreign.append(f"<!--{data[:20]}")
