"""Ops whose inputs lie on several contexts: MXNet copies none of them, but reads them in place or raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..trace.recording import Recording
from ..trace.schema import MixedFields
from .arrays import Arrays
from .without_context import WithoutContext

# GetContext in src/imperative/imperative_utils.h compares the kinds of devices, not the devices.
_ELSEWHERE = (
    "between a CPU and a GPU this raises, and between two GPUs it is not even checked, so that one reads the "
    "other's memory or fails"
)


class MixedInputs:
    """The ops that were called with such inputs."""

    def __init__(
        self,
        recording: Recording,
        arrays: Arrays,
        names: Mapping[Any, str],
        without_context: WithoutContext,
    ) -> None:
        """`names` are ops' by their C handles."""
        self.recording = recording
        self.arrays = arrays
        self.updating = 0
        """Not 0 while a kvstore's updater runs: its inputs' contexts are the kvstore's doing."""
        self._names = names
        self._without_context = without_context
        self._known: dict[Any, int] = {}

    def taken(self, name: str, inputs: Sequence[Any], device: str, location: int, outcome: str) -> None:
        """An op of `device` was called with inputs of which some lie elsewhere; `outcome`: read or raised."""
        if self.updating:
            return
        others = [a for a in inputs if self.arrays.mark(a.handle).device is not device]
        reads = sorted({self.arrays.mark(a.handle).device for a in others})
        made = self.arrays.mark(others[0].handle)
        at_home = self._without_context.made(inputs)
        identity = (name, location, device, tuple(reads), made.op, made.loc, at_home, outcome)
        key = self._known.get(identity)
        if key is None:
            fields = MixedFields(
                op=name,
                device=device,
                reads=reads,
                bytes=sum(self.arrays.size(a.handle) for a in others),
                loc=location,
                producer_op=made.op,
                producer_loc=made.loc,
                outcome=outcome,
                elsewhere=_ELSEWHERE,
                basis="measured",
            )
            if at_home is not None:
                fields["without_context_op"], fields["without_context_loc"] = at_home
            key = self._known[identity] = self.recording.key(("mixed", *identity), "mixed", fields)
        self.recording.happened(key, "mixed")

    def refused(self, name: Any, inputs: Sequence[Any]) -> None:
        """An op raised: if its inputs lie on different contexts that is why, or worth knowing at least."""
        devices = {self.arrays.mark(array.handle).device for array in inputs}
        if len(devices) > 1:
            text = str(self._names.get(name, name))
            first = self.arrays.mark(inputs[0].handle).device
            self.taken(text, inputs, first, self.recording.sites.current(2), "raised")
