"""Which line opened the device scope that an op is made in: ``with tf.device("/GPU:1"):``.

Libraries open scopes too, tf.distribute above all: of these it is noted which function did.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any, NamedTuple, Optional

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.guard import IGNORED
from ..trace.recording import Recording
from ..trace.sites import library_path


class Scope(NamedTuple):
    """Who opened a device scope."""

    line: int
    """Location of the user's line; 0 where a library opened it, and for none."""
    opener: str
    """``tensorflow/python/distribute/mirrored_run.py:run``: a library's function; '' for the user's code."""


NO_SCOPE = Scope(0, "")


_by_code: dict[int, tuple[CodeType, Optional[Scope]]] = {}
"""What libraries' functions open, by the ids of their code: code's own hash is slow."""
_open: dict[int, list[Scope]] = {}
"""Thread -> what is open in it, as below."""


class _Scopes(threading.local):
    def __init__(self) -> None:
        self.open: list[Scope] = []
        """The open scopes of this thread, the innermost last; NO_SCOPE for one that asks for no device."""
        _open[threading.get_ident()] = self.open


_scopes = _Scopes()


def current() -> Scope:
    """The innermost open device scope of this thread; NO_SCOPE where none is open, or it asks for none."""
    found = _scopes.open
    return found[-1] if found else NO_SCOPE


def of_another_thread() -> int:
    """The line of the user's scope that the main thread has open, or in which this thread was started.

    0 in the main thread, in one that has a scope of its own, and in the runtime's own threads.
    """
    me, main = threading.current_thread(), threading.main_thread()
    dummy = getattr(threading, "_DummyThread", ())
    if me is main or isinstance(me, dummy) or current() is not NO_SCOPE:
        return 0
    opened = _open.get(main.ident or 0)
    now = opened[-1].line if opened else 0
    started: int = getattr(me, "_hopscope_scope", 0)
    return now or started


def watch_threads() -> None:
    """From now on note the scope in which each thread is started."""
    start = threading.Thread.start

    @stands_for(start)
    def start_noted(thread: threading.Thread, *args: Any, **kwargs: Any) -> None:
        with IGNORED:  # a thread's own class may refuse attributes
            thread._hopscope_scope = current().line  # type: ignore[attr-defined]  # a mark of ours
        with PASSING:
            start(thread, *args, **kwargs)

    threading.Thread.start = start_noted  # type: ignore[method-assign,assignment]  # meant


class _Recorded:
    """A device scope that is noted while it is open."""

    def __init__(self, scope: Any, made: Scope) -> None:
        self._scope = scope
        self._made = made

    __slots__ = ("_made", "_scope")

    def __enter__(self) -> Any:
        try:
            entered = self._scope.__enter__()
        except BaseException as error:
            drop_frame(error)
            raise
        _scopes.open.append(self._made)
        return entered

    def __exit__(self, *raised: Any) -> Any:
        opened = _scopes.open
        if opened:
            opened.pop()
        try:
            return self._scope.__exit__(*raised)
        except BaseException as error:
            drop_frame(error)
            raise

    def __call__(self, *args: Any) -> Any:
        """A graph's scope decorates functions, too."""
        with PASSING:
            return self._scope(*args)

    def __getattr__(self, name: str) -> Any:
        with PASSING:
            return getattr(self._scope, name)


def _who(recording: Recording, frame: Optional[FrameType], through: str) -> Scope:
    """Who asks for a device in `frame`, perhaps by way of the framework's file `through`."""
    while frame is not None and frame.f_code.co_filename == through:
        frame = frame.f_back
    if frame is None:
        return Scope(recording.sites.current(2), "")
    code = frame.f_code
    known = _by_code.get(id(code))
    if known is None:
        users = recording.sites.is_user(code.co_filename)
        known = _by_code[id(code)] = code, None if users else _of_library(code)
    return known[1] or Scope(recording.sites.current(2), "")


def _of_library(code: CodeType) -> Optional[Scope]:
    """The scope that a library's code opens; None where that code is the user's, rewritten by AutoGraph."""
    if "/autograph/" in code.co_filename.replace("\\", "/"):
        return None
    return Scope(0, f"{library_path(code.co_filename)}:{code.co_name}")


def install(recording: Recording) -> None:
    """Note the line of every ``tf.device``, inside and outside of functions."""
    from tensorflow.python.framework import ops

    device, through = ops.device, ops.__file__
    guard, windows = recording.guard("lines of device scopes"), recording.windows
    seen: set[Scope] = set()
    public = ops.device_v2.__code__
    librarys: dict[int, CodeType] = {}
    """Code that opens scopes for libraries, by its id; `public` does so for everybody."""

    @stands_for(device)
    def recorded(device_name_or_function: Any) -> Any:
        try:
            scope = device(device_name_or_function)
        except BaseException as error:
            drop_frame(error)
            raise
        code = sys._getframe(1).f_code
        if windows.paused and id(code) in librarys:
            return scope  # what runs in it is not recorded
        made = NO_SCOPE
        with guard:
            if device_name_or_function is not None:
                made = _who(recording, sys._getframe(1), through)
                if made.opener and code is not public:
                    librarys[id(code)] = code
                if made not in seen:
                    seen.add(made)
                    windows.resume()
        return _Recorded(scope, made)

    ops.device = recorded
    watch_threads()
