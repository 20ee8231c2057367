"""Calls of functions whose placed graphs have not come yet, or came and could not be read.

Another thread's call may bring what has not come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Optional

from ..trace.recording import Recording

_NO_GRAPH = "the runtime exported no placed graph for this call"


class Awaited:
    """Gives the graph of such calls its number before it comes, and tells at the end what never came."""

    def __init__(self, recording: Recording, notes: Mapping[str, Any]) -> None:
        """`notes`: runtime name -> FunctionNote."""
        self.recording = recording
        self._notes = notes
        self._numbers: dict[str, int] = {}
        self._calls: Counter[str] = Counter()
        self._failed: dict[str, str] = {}
        """Why the graph of a function could not be read."""
        self._told: dict[str, int] = {}
        """Calls that were told already; the ticker alone writes it, so that neither waits for the other."""
        recording.tickers.append(self._tell)

    def called(self, name: str, location: int) -> int:
        """A call whose graph is not known: the number that it will have."""
        self._calls[name] += 1
        if name not in self._numbers:
            note = self._notes[name]
            self._numbers[name] = self.recording.graph(
                name=note.label,
                function=name,
                loc=location,
                step_marks=note.steps,
                partial=self._failed.get(name, _NO_GRAPH),
            )
        return self._numbers[name]

    def number(self, name: str) -> Optional[int]:
        """The number that a function's graph was given, None where it has none yet."""
        return self._numbers.get(name)

    def arrived(self, name: str) -> None:
        """The graph of a function has come and was read."""
        self._failed.pop(name, None)
        if name in self._calls:
            self._calls[name] = self._told.get(name, 0)
        self._numbers.pop(name, None)

    def failed(self, name: str, why: str) -> None:
        """The graph of a function has come and can't be read: so it is with its calls."""
        self._failed[name] = why

    def _tell(self) -> None:
        for name in list(self._calls):
            calls = self._calls[name] - self._told.get(name, 0)
            if calls and (self.recording.ending or name in self._failed):
                self._told[name] = self._told.get(name, 0) + calls
                note, why = self._notes[name], self._failed.get(name, _NO_GRAPH)
                self.recording.unseen(f"ops inside {note.label}", why, calls * len(note.ops))
