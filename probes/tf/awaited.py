"""Calls of functions whose placed graphs have not come yet: another thread's call may bring them."""

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
        recording.tickers.append(self._tell)

    def called(self, name: str, location: int) -> int:
        """A call whose graph is not known: the number that it will have."""
        self._calls[name] += 1
        if name not in self._numbers:
            note = self._notes[name]
            fields = {"name": note.label, "function": name, "loc": location, "step_marks": note.steps}
            self._numbers[name] = self.recording.graph({**fields, "partial": _NO_GRAPH})
        return self._numbers[name]

    def arrived(self, name: str) -> Optional[int]:
        """The graph of a function has come: the number that it was given, None where it has none yet."""
        self._calls.pop(name, None)
        return self._numbers.pop(name, None)

    def _tell(self) -> None:
        if self.recording.ending:
            for name, calls in self._calls.items():
                note = self._notes[name]
                self.recording.unseen(f"ops inside {note.label}", _NO_GRAPH, calls * len(note.ops))
            self._calls.clear()
