"""Abseil's log switches inside TensorFlow's library: the verbose log by module, and the least level."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any, Optional

_LTS = ("20250814", "20250512", "20250127", "20240722", "20240116", "20230802", "20260107", "20230125")
"""Releases of Abseil whose version is part of the functions' names."""


class VerboseLog:
    """Abseil's verbose-log switches, found by their mangled names in TensorFlow's own library."""

    def __init__(self, update: Callable[..., Any], set_level: Any, level: Any) -> None:
        self._update = update
        self._set_level = set_level
        self._level = int(level()) if level is not None else 0
        self._users = os.environ.get("TF_CPP_VMODULE", "")
        self._now = ""
        self.quiet = b"IWEF"[: max(0, self._level)]

    @classmethod
    def find(cls) -> Optional[VerboseLog]:
        """The switches of the library that this process has loaded; None where it exports none."""
        library = _library()
        if library is None:
            return None
        for version in _LTS:
            prefix = f"_ZN4absl12lts_{version}"
            update = getattr(
                library,
                f"{prefix}12log_internal13UpdateVModuleESt17basic_string_viewIcSt11char_traitsIcEE",
                None,
            )
            if update is None:
                continue
            update.argtypes, update.restype = [ctypes.c_size_t, ctypes.c_char_p], ctypes.c_bool
            set_level = getattr(library, f"{prefix}14SetMinLogLevelENS0_18LogSeverityAtLeastE", None)
            level = getattr(library, f"{prefix}11MinLogLevelEv", None)
            if set_level is not None:
                set_level.argtypes, set_level.restype = [ctypes.c_int], None
            return cls(update, set_level, level)
        return None

    @contextlib.contextmanager
    def hushed(self) -> Iterator[None]:
        """Keep the runtime's own INFO lines out of the program's output meanwhile."""
        if self._set_level is None or self._level > 0:
            yield
            return
        self._set_level(1)
        try:
            yield
        finally:
            self._set_level(self._level)

    @property
    def can_hush(self) -> bool:
        """Whether INFO lines are hidden, or can be."""
        return self._set_level is not None or self._level > 0

    def switch(self, mode: str) -> None:
        """Log `mode` ('executor', 'sendrecv_ops', '' for nothing) beside what the user asked for."""
        if mode == self._now:
            return
        self._now = mode
        ours = {"executor": "executor=1", "sendrecv_ops": "sendrecv_ops=2", "": ""}[mode]
        text = ",".join(part for part in (ours, self._users) if part).encode()
        self._update(len(text), text)
        if self._set_level is not None and self._level > 0:
            self._set_level(0 if mode else self._level)


def _library() -> Optional[ctypes.CDLL]:
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split()[-1] for line in maps if "libtensorflow_framework" in line}
        return ctypes.CDLL(paths.pop()) if paths else None
    except OSError:
        return None
