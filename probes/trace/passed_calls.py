"""Calls of traced functions between windows, kept for a moment: to write many at once costs a program less.

A process that is killed loses the events of its last quarter of a second between windows, not their counts.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from typing import Optional

from .recording import Recording

_MANY = 512
"""So many calls are written without waiting for the next tick."""


class PassedCalls:
    """Calls that are counted but not written yet."""

    def __init__(self, recording: Recording) -> None:
        """They are written at each tick, and where a pause ends."""
        self._recording = recording
        self._waiting: deque[tuple[int, int, int, int, int, Optional[int], int]] = deque()
        recording.tickers.append(self.write)
        recording.windows.on_pause.append(lambda paused: None if paused else self.write())
        os.register_at_fork(after_in_child=self._waiting.clear)

    def add(self, key: int, start: int, dur: int, step_key: int, steps: int) -> None:
        """A call ended that takes `steps` steps of the program: of the key `step_key`, if any."""
        recording, waiting = self._recording, self._waiting
        counts, step = recording.writer.counts, recording.step
        counts[key] += 1
        waiting.append((key, start, dur, step_key, steps, step, threading.get_ident()))
        if steps:
            counts[step_key] += steps
            recording.step = (step or 0) + steps
            recording.passed(steps)
        if len(waiting) > _MANY:
            self.write()

    def write(self) -> None:
        """Write all as events, in their order."""
        lines = "".join(self._lines())
        if lines:
            self._recording.writer.append_bytes(lines.encode("ascii"))

    def _lines(self) -> Iterator[str]:
        """Their records, as `Recording.event` writes them."""
        waiting, mono = self._waiting, self._recording.mono
        for _ in range(len(waiting)):
            try:
                key, start, dur, step_key, steps, step, thread = waiting.popleft()
            except IndexError:  # another thread writes the rest
                return
            start -= mono
            shown = "null" if step is None else step
            yield f'["e","call",{start},{dur},{key},1,{shown},null,{thread}]\n'
            if steps:
                after = (step or 0) + steps
                yield f'["e","mark",{start + dur},0,{step_key},{steps},{after},null,{thread}]\n'
