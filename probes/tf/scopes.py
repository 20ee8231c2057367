"""Which line opened the device scope that an op is made in: ``with tf.device("/GPU:1"):``."""

from __future__ import annotations

import threading
from typing import Any

from ..trace.recording import Recording


class _Scopes(threading.local):
    def __init__(self) -> None:
        self.lines: list[int] = []
        """Locations of the open scopes of this thread, the innermost last; 0 for one that asks for none."""


_scopes = _Scopes()


def scope_line() -> int:
    """Location of the innermost open device scope's line; 0 where none is open, or that asks for none."""
    lines = _scopes.lines
    return lines[-1] if lines else 0


class _Recorded:
    """A device scope that is noted while it is open."""

    def __init__(self, scope: Any, asks: bool, recording: Recording) -> None:
        self._scope = scope
        self._line = recording.sites.current(2) if asks else 0

    def __enter__(self) -> Any:
        entered = self._scope.__enter__()
        _scopes.lines.append(self._line)
        return entered

    def __exit__(self, *error: Any) -> Any:
        if _scopes.lines:
            _scopes.lines.pop()
        return self._scope.__exit__(*error)


def install(recording: Recording) -> None:
    """Note the line of every ``tf.device``, inside and outside of functions."""
    from tensorflow.python.framework import ops

    device = ops.device

    def recorded(device_name_or_function: Any) -> Any:
        scope = device(device_name_or_function)
        return _Recorded(scope, device_name_or_function is not None, recording)

    ops.device = recorded
