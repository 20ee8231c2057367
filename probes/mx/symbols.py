"""Remembers which line of the code made each op of a symbol, by the op's name."""

from __future__ import annotations

from typing import Any

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording


class SymbolSites:
    """Location by op name; a name that is given again belongs to the line that gave it last."""

    def __init__(self) -> None:
        """No symbol was made yet."""
        self._lines: dict[str, int] = {}

    def note(self, name: str, loc: int) -> None:
        """An op of this name was made at a line."""
        self._lines[name] = loc

    def of(self, name: str) -> int:
        """The line that made an op, 0 where it is not known (a symbol that was loaded from a file)."""
        return self._lines.get(name, 0)


def install(recording: Recording) -> SymbolSites:
    """Hook the one Python function that makes symbols' ops."""
    from mxnet.symbol import register

    sites = SymbolSites()
    guard = recording.guard("lines of symbols")
    original = register._symbol_creator

    @stands_for(original)
    def _symbol_creator(
        handle: Any, args: Any, kwargs: Any, keys: Any, vals: Any, name: Any, *rest: Any
    ) -> Any:
        with PASSING:
            symbol = original(handle, args, kwargs, keys, vals, name, *rest)
        if name:
            with guard:
                sites.note(name, recording.sites.current(1))
        return symbol

    register._symbol_creator = _symbol_creator
    return sites
