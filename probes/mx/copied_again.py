"""Counts copies of one array, unchanged since, to a device that the same line had copied it to before.

An array that is copied gets a mark of its own: new values give it another one, so that mark stands for
its values. Left out is what may get new values unseen: gradients, what executors and traced blocks write
to, what kvstores and operators in Python hold, and what another array's memory may have been written by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..trace.recording import Recording
from ..trace.schema import AgainFields, HopFields
from .arrays import Arrays
from .marks import Mark


def writes_inputs(name: str) -> bool:
    """Whether an op changes some of its inputs: optimizers their state, batch norm its running mean."""
    return "_update" in name or "BatchNorm" in name or name in ("reset_arrays", "IdentityAttachKLSparseReg")


class CopiedAgain:
    """What is known of arrays that were copied."""

    def __init__(self, recording: Recording, arrays: Arrays) -> None:
        """Nothing was copied yet."""
        self._recording = recording
        self._arrays = arrays
        self._last: dict[int, Mark] = {}
        """By the key of a transfer: the mark of the array that went last."""
        self._keys: dict[int, int] = {}

    def define(self, hop: int, fields: HopFields) -> None:
        """A transfer's key is new."""
        same = AgainFields(
            graph=fields["graph"],
            tensor=fields["tensor"],
            src=fields["src"],
            dst=fields["dst"],
            loc=fields["loc"],
            producer_loc=fields["producer_loc"],
            shape=fields["shape"],
            dtype=fields["dtype"],
        )
        self._keys[hop] = self._recording.key(("again", hop), "again", same)

    def copied(self, handle: Any, hop: int, copies: Iterable[Mark]) -> None:
        """An array went another time; `hop` is the key of the transfer, `copies` are those of its line."""
        arrays = self._arrays
        mark = arrays.mark(handle)
        if mark.filled or not arrays.told_of(handle):
            return
        if mark.sent is None:
            mark = arrays.marks[handle.value] = mark.of_one()
        sent: dict[int, tuple[int, int]] = mark.sent or {}
        step = self._recording.step
        # Which arrays share memory is not known, only whether any shares that of this one.
        fills = arrays.shared_fills.get(mark.device, 0) if mark.shared() else 0
        now = fills, step or 0
        before = sent.get(hop)
        mark.sent = sent
        sent[hop] = now
        last, self._last[hop] = self._last.get(hop), mark
        if before is None or before[0] != now[0]:
            return
        # Batches that each epoch copies anew may have no room there: only what goes each step counts.
        if last is not mark and (step is None or now[1] - before[1] > 1):
            return
        # Where it is written to, a new copy is wanted.
        if not any(copy.filled for copy in copies):
            self._recording.happened(self._keys[hop], "again")

    def written(self, inputs: Iterable[Any]) -> None:
        """An op that writes to its inputs ran on these."""
        arrays = self._arrays
        for array in inputs:
            mark = arrays.marks.get(array.handle.value)
            if mark is not None and mark.sent is not None:
                mark.sent.clear()
            if mark is not None and mark.moved is not None:
                mark = arrays.marks[array.handle.value] = mark.of_one()
                mark.moved = None
            if mark is not None and mark.shared():
                arrays.shared_filled(mark)
