"""On which context arrays are made that name none, and which line opened it: ``with mx.gpu(1):``."""

from __future__ import annotations

import threading
from typing import Any, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording
from .contexts import context_name


class _Scopes(threading.local):
    def __init__(self) -> None:
        self.lines: list[int] = []
        """Locations of the open contexts of this thread, the innermost last."""


_scopes = _Scopes()


def scope_line() -> int:
    """Location of the line that opened the innermost context of this thread; 0 where none is open."""
    lines = _scopes.lines
    return lines[-1] if lines else 0


def scope_device() -> Optional[str]:
    """The device of the innermost open context of this thread; None where none is open."""
    from mxnet.context import Context

    context = getattr(Context._default_ctx, "value", None)
    return None if context is None or context._old_ctx is None else context_name(context)


def install(recording: Recording) -> None:
    """Note the line of every context that is entered."""
    from mxnet.context import Context

    enter, leave = Context.__enter__, Context.__exit__
    guard = recording.guard("lines of contexts")

    @stands_for(enter)
    def __enter__(self: Any) -> Any:
        with PASSING:
            entered = enter(self)
        line = 0
        with guard:
            line = recording.sites.current()
        _scopes.lines.append(line)
        return entered

    @stands_for(leave)
    def __exit__(self: Any, *error: Any) -> Any:
        if _scopes.lines:
            _scopes.lines.pop()
        with PASSING:
            return leave(self, *error)

    Context.__enter__ = __enter__
    Context.__exit__ = __exit__
