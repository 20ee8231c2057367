"""Copies between contexts: the code, or the library for it, asks for each of them by name."""

from __future__ import annotations

from typing import Any, Optional

from ..trace.hop import HOST, HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.recording import Recording
from .arrays import Arrays
from .copied_again import CopiedAgain
from .copy_calls import SLICE_ASSIGNMENT, TO_A_CONTEXT, copy_call
from .from_nothing import FromNothing
from .marks import GRADIENT
from .op_entries import Entry
from .tape import Copy, Tape
from .variables import copied

_WANTED = ("copy", SLICE_ASSIGNMENT)
"""Copies that are no mistake where they stay on a device."""


class Copies:
    """The transfers that ops which copy make."""

    def __init__(
        self, recording: Recording, arrays: Arrays, tape: Tape, again: CopiedAgain, from_nothing: FromNothing
    ) -> None:
        """`again` gets to know of each array that goes to another device."""
        self._tape = tape
        self.recording = recording
        self.arrays = arrays
        self.again = again
        self._from_nothing = from_nothing
        self._hops: dict[Any, int] = {}

    def copied(self, source: Any, target: Any, entry: Entry, location: int) -> Optional[Copy]:
        """An op at `location` copied one array into another; what the tape must know of it.

        To be called right from where an op is taken apart: the calls that led to it tell who asked.
        """
        mark = self.arrays.mark(source.handle)
        dst = self.arrays.mark(target.handle).device
        call, for_a_new_one = copy_call(self.recording.sites)
        if mark.device is dst and (dst is HOST or not for_a_new_one or call in _WANTED):
            return None  # a snapshot, an assignment, or what the library needs for something else
        shape = self.arrays.shape(source.handle)
        dtype = self.arrays.dtype(source.handle)
        moved = mark.moved if self.arrays.told_of(source.handle) else None
        gradient = mark.op == GRADIENT or source.handle.value in self.arrays.gradients
        variable = None
        if self._tape.on and for_a_new_one and call in TO_A_CONTEXT and dst is not HOST:
            variable = copied(self.arrays, source.handle, mark)
        kind = (gradient, mark.origin, variable and (variable.name, variable.loc))
        identity = (mark.op, mark.loc, mark.device, dst, location, shape, dtype, call, moved, kind)
        key = self._hops.get(identity)
        if key is None:
            sparse = self.arrays.sparse(source.handle)
            size = None if sparse else self.arrays.size(source.handle)
            fields = hop_key(
                HopProducer(mark.device, mark.op, mark.loc, requested=mark.requested),
                HopConsumer(dst, entry.name, location, requested=dst),
                HopTensor(size, dtype[0], shape, "unknown" if sparse else "estimated"),
                "copy",
                facts={"copy_call": call or entry.name},
            )
            if gradient:
                fields["facts"]["gradient"] = True
            if variable is not None:
                fields["facts"]["variable"] = variable.name
                fields["facts"]["autograd_copies"] = True
                fields["variable_loc"] = variable.loc
            if mark.origin is not None:
                fields["origin_loc"] = mark.origin[1]
            if mark.device is not dst:
                self._from_nothing.sent(source, fields)
            if moved is not None:
                fields["copied_from"], fields["copy_loc"] = moved
            key = self._hops[identity] = self.recording.key(("copy", *identity), "hop", fields)
            self.again.define(key, fields)
        self.recording.happened(key, "hop")
        if mark.device is not dst:
            self.again.copied(source.handle, key, entry.marks.values())
        return (mark.device, dst, shape, dtype, mark.op) if mark.device is not dst else None
