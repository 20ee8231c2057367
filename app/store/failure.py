"""The last exception in a run's output, and the line of the program's own code that it came from."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.store.log import read_tail

_HEAD = re.compile(r"(?P<member>\S+ *\| )?Traceback \(most recent call last\):")
_FRAME = re.compile(r'\s+File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in .+)?')
_RAISED = re.compile(r"[A-Za-z_][\w.]*(?:: .*)?")
_RECORDER = re.compile(r"/probes/(?:inject|trace|tf|mx)/[^/]+\.py$")
_LIBRARIES = re.compile(
    r"/(?:site|dist)-packages/|/lib/python3[^/]*/|/probes/(?:inject|trace|tf|mx)/|/__autograph_generated_file"
)
_OF_PYTHON = re.compile(
    r"(?:Attribute|Key|Index|Name|UnboundLocal|Type|Value|Assertion|Import|ModuleNotFound|ZeroDivision"
    r"|Overflow|Recursion|Runtime|Unicode\w+)Error\b"
)
"""What a mistake of the recorder raises: no error of a framework, nor an interrupt or an end."""
_CALLS_ON = re.compile(r".*\(.*\*\w|(?:(?:return|yield|await) |\w[\w.]* = )?\w+\([^()]*\)$")
"""Code of a wrapper that calls what it stands for: C code has no frame of its own, nor has a wrong call."""
_LONGEST = 300


@dataclasses.dataclass(frozen=True)
class LastException:
    """An exception that a program printed with its traceback."""

    said: str
    """Its type and the first line of its message: ``ValueError: batch is empty``."""
    site: str
    """The innermost line that is no library's, relative to the script's folder; '' for none."""
    lines: tuple[str, ...]
    """The traceback and all that was printed behind it."""
    recorders: bool = False
    """The recorder raised it: the program did no more than call what it follows."""

    @property
    def told(self) -> str:
        """``train.py:6: ValueError: batch is empty``; of the recorder's own that it is not the program's."""
        if self.recorders:
            under = f", called by {self.site}," if self.site else ""
            return f"Hopscope's recorder{under} failed, not the program: {self.said}"
        return f"{self.site}: {self.said}" if self.site else self.said


def last_exception(folder: Path, spec: Mapping[str, Any]) -> LastException | None:
    """The last exception in the output of a run of this folder and spec; None where there is none."""
    return find_exception(read_tail(folder).lines, _root(spec))


def find_exception(lines: Sequence[str], root: str) -> LastException | None:
    """As `last_exception`, of these lines; sites are relative to `root`."""
    heads = [(at, match) for at, line in enumerate(lines) for match in [_HEAD.fullmatch(line)] if match]
    if heads:
        at, match = heads[-1]
        member = match["member"] or ""
        lines = [line.removeprefix(member) for line in lines[at:] if line.startswith(member)]
        begun = 1
    else:  # what cannot be compiled has no traceback
        at = next((at for at in reversed(range(len(lines))) if _FRAME.fullmatch(lines[at])), -1)
        if at < 0:
            return None
        lines, begun = lines[at:], 0
    frames = []
    said = code = ""
    for line in lines[begun:]:
        if frame := _FRAME.fullmatch(line):
            frames.append((frame["file"], frame["line"]))
            code = ""
        elif line[:1].isspace() and not code:
            code = line.strip()
        elif line and not line[0].isspace():
            # MXNet's errors begin with a traceback of their own.
            if _HEAD.fullmatch(line.partition(": ")[2]):
                continue
            said = line
            break
    if not _RAISED.fullmatch(said) or not (heads or "Error" in said.partition(":")[0]):
        return None
    own = next((frame for frame in reversed(frames) if not _is_library(frame[0])), None)
    site = f"{_shown(own[0], root)}:{own[1]}" if own else ""
    recorders = bool(frames) and _by_recorder(frames[-1][0], code, said)
    said = said if len(said) <= _LONGEST else f"{said[:_LONGEST]} .."
    return LastException(said, site, tuple(lines), recorders)


def _by_recorder(file: str, code: str, said: str) -> bool:
    """Whether the innermost frame is the recorder's, at a line of its own doing.

    Its wrappers stand in the middle of most tracebacks, and at the end of those of calls that Python refuses.
    """
    own = _RECORDER.search(file) is not None
    return own and _OF_PYTHON.match(said) is not None and not _CALLS_ON.match(code)


def _is_library(file: str) -> bool:
    return not Path(file).is_absolute() or _LIBRARIES.search(file) is not None


def _root(spec: Mapping[str, Any]) -> str:
    """The folder of the script, else where the program was started."""
    cwd = str(spec.get("cwd") or "")
    words = spec.get("command")
    for word in words[1:] if isinstance(words, list) else ():
        # An edited copy is started by a program of the recorder's, which takes the script.
        if isinstance(word, str) and word.endswith(".py") and not _RECORDER.search(word):
            return str(Path(cwd, word).parent)
    return cwd


def _shown(file: str, root: str) -> str:
    if not root:
        return file
    relative = os.path.relpath(file, root)
    return file if relative.count("..") > 2 else relative  # as sites are told
