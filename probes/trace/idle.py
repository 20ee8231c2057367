"""Stand in for a trace: between two blocks that a program records, and in a fork that did nothing yet."""

from __future__ import annotations

from collections.abc import Callable

from .writer import NoWriter, TraceWriter, Written, is_definition


class IdleWriter(NoWriter):
    """Takes records and keeps only definitions: what happens later refers to them by number."""

    def __init__(self, definitions: list[bytes], keys: int) -> None:
        """`definitions` are those so far; counters for `keys` keys, in memory only."""
        super().__init__(max(keys, 1 << 13))
        self._definitions = definitions

    def append_bytes(self, line: bytes) -> None:
        """Keep a definition, forget anything else."""
        if is_definition(line):
            self._definitions.append(line)

    def definitions(self) -> list[bytes]:
        """All definitions so far."""
        return list(self._definitions)


class DeferredWriter(NoWriter):
    """Stands in for a forked child's trace until the child does something: most do nothing to record."""

    def __init__(self, keys: int, parent: Written, begin: Callable[[], TraceWriter]) -> None:
        """Counters for `keys` keys; `parent` had been written when the child began.

        `begin` makes the trace, which takes the place of this one, and returns it.
        """
        super().__init__(keys)
        self._parent = parent
        self._begin = begin

    def append_bytes(self, line: bytes) -> None:
        """Begin the trace with this line."""
        self._begin().append_bytes(line)

    def written(self) -> Written:
        """What the parent had written."""
        return self._parent

    def definitions(self) -> list[bytes]:
        """Those of the parent; none where its file is gone."""
        try:
            return self._parent.definitions()
        except OSError:
            return []
