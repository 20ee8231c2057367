"""Stands in for a trace while nobody wants one: between two blocks that a program has recorded."""

from __future__ import annotations

from .writer import NoWriter, is_definition


class IdleWriter(NoWriter):
    """Takes records and keeps only definitions: what happens later refers to them by number."""

    def __init__(self, definitions: list[bytes], keys: int) -> None:
        """`definitions` are those so far; counters for `keys` keys, in memory only."""
        super().__init__(max(keys, 1 << 13))
        self.failure = None
        self._definitions = definitions

    def append_bytes(self, line: bytes) -> None:
        """Keep a definition, forget anything else."""
        if is_definition(line):
            self._definitions.append(line)

    def definitions(self) -> list[bytes]:
        """All definitions so far."""
        return list(self._definitions)
