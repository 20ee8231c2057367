"""What Python writes into arrays: from its own data, or numpy's, to the context of the array."""

from __future__ import annotations

import threading
from typing import Any

from ..trace.hop import HOST, HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.pulled import PulledArrays
from ..trace.recording import Recording
from .arrays import Arrays
from .marks import Mark
from .without_context import WithoutContext


class Uploads:
    """The transfers of Python's data, and which of it is known to come from a device."""

    def __init__(self, recording: Recording, arrays: Arrays, without_context: WithoutContext) -> None:
        """`without_context` gets to know what is written on the host."""
        self.recording = recording
        self.arrays = arrays
        self.pulled = PulledArrays.of(recording)
        self.sending = threading.local()
        """`source`: the numpy array that is being written into an array by this thread."""
        self._without_context = without_context
        self._known: dict[Any, tuple[int, Mark]] = {}
        """By device, line, size and origin: key of the transfer, 0 for none, and the mark of the array."""

    def uploaded(self, handle: Any, device: str, elements: int, dur: int) -> None:
        """Python or numpy data was written into an array of a device; `dur` is what copying it took."""
        location = self.recording.sites.current(2)
        pulled = None if device is HOST else self.pulled.origin(getattr(self.sending, "source", None))
        identity = ("upload", device, location, elements, pulled)
        known = self._known.get(identity)
        if known is None:
            dtype, shape = self.arrays.dtype(handle), self.arrays.shape(handle)
            size = self.arrays.size(handle)
            mark = Mark("Python", location, device, "", size, self.arrays.totals[device])
            key = 0
            if device is not HOST:
                fields = hop_key(
                    HopProducer(HOST, "Python", location if pulled is None else pulled.loc),
                    HopConsumer(device, "Python", location, requested=device),
                    HopTensor(size, dtype[0], shape),
                    "upload",
                    facts=None if pulled is None else pulled.facts,
                )
                key = self.recording.key(identity, "hop", fields)
            known = self._known[identity] = (key, mark)
            self._without_context.sent(location, device, handle)
        key, mark = known
        if key:
            self.recording.happened(key, "hop", dur)
        self.arrays.made(handle, mark)
        self.arrays.overwritten(handle)
