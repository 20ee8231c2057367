"""One block of a program that records itself: `with hopscope.record()`, and what looks for forbidden hops."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from typing import Optional

from .. import boot
from ..trace.pulled import PulledArrays
from . import abandoned, members, run_folder

_FRAMEWORKS = ("tensorflow", "mxnet")
_guard = threading.Lock()
_current: Optional[Block] = None


class Busy(RuntimeError):
    """Something records this process already."""


class Block:
    """A run that begins and ends within a process, which may record several one after the other."""

    def __init__(self, path: str, root: Optional[str]) -> None:
        """The run in this folder; sites are relative to `root`, by default the script's folder."""
        self.path = path
        self._root = root
        self._held = abandoned.claim(path)

    @property
    def id(self) -> str:
        """The run's id."""
        return run_folder.run_id(self.path)

    def begin(self) -> None:
        """Start to record."""
        boot.record_into(self._folder_of, self._root)

    def _folder_of(self, framework: str) -> str:
        run_folder.note_framework(self.path, framework)
        return self.path

    def end(self, kind: Optional[type[BaseException]] = None, error: Optional[BaseException] = None) -> None:
        """Stop to record and write down how it went; an exception that ends the block is named."""
        global _current
        boot.pause()
        with contextlib.suppress(OSError, ValueError):  # the folder was removed, or its disk is full
            members.leave(self.path, _end_of(kind, error), whole=False)
        with _guard:
            _current = None

    def show(self) -> None:
        """Put a hidden run among the others."""
        self._let_go()
        self.path = run_folder.show(self.path)

    def discard(self) -> None:
        """Delete the run."""
        self._let_go()
        shutil.rmtree(self.path, ignore_errors=True)

    def _let_go(self) -> None:
        held, self._held = self._held, None
        abandoned.let_go(self.path, held)


def open_block(name: Optional[str], root: Optional[str] = None, hidden: bool = False) -> Block:
    """Make a run and begin to record it; Busy where a block or the whole process is recorded already.

    A `hidden` one is to be judged, then shown or discarded: no value that comes back is too small for it.
    """
    global _current
    with _guard:
        if _current is not None:
            raise Busy(f"this process already records the run {_current.id}")
        if boot.whole is not None:
            raise Busy("this process is recorded as a whole already")
        loaded = [framework for framework in _FRAMEWORKS if framework in sys.modules]
        path = run_folder.make(name or _name(), "block", loaded[0] if loaded else None)
        members.enter(path, first=True)
        _current = Block(path, root)
        PulledArrays.remember_scalars(hidden)
        if hidden:
            abandoned.sweep(os.path.dirname(path))
        else:
            _current.show()
    try:
        _current.begin()
    except BaseException:
        block, _current = _current, None
        block.discard()
        raise
    return _current


def whole_run() -> Optional[str]:
    """The folder of the run that records this process, or its present block; None where nothing does."""
    if _current is not None:
        return _current.path
    return boot.whole() if boot.whole is not None else None


def _name() -> str:
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.splitext(os.path.basename(script))[0] if script else "notebook"


def _end_of(kind: Optional[type[BaseException]], error: Optional[BaseException]) -> members.End:
    if kind is None or issubclass(kind, GeneratorExit):
        return members.End("finished")
    if issubclass(kind, KeyboardInterrupt):
        return members.End("stopped", "interrupted")
    if issubclass(kind, SystemExit):
        code = getattr(error, "code", None)
        return members.End("failed", f"ended by SystemExit({code!r})") if code else members.End("finished")
    return members.End("failed", f"{kind.__name__}: {error}".strip().partition("\n")[0][:500])
