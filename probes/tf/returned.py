"""Tells of traced functions that return gradients: whoever uses those outside can't see what made them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..trace.recording import Recording
from ..trace.schema import ReturnedFields
from .names import short_device

_PASSED_ON = ("Identity", "EnsureShape")


class ReturnedGradients:
    """Which outputs of which functions are gradients."""

    def __init__(self, recording: Recording) -> None:
        """No function was traced yet."""
        self._recording = recording
        self.outputs: dict[str, tuple[str, list[int]]] = {}

    def traced(self, name: str, graph: Any) -> None:
        """A graph became a function of the runtime."""
        places: dict[str, tuple[Any, ...]] = getattr(graph, "_hopscope_ops", {})
        outputs = list(graph.outputs)
        found = [index for index, tensor in enumerate(outputs) if _is_gradient(tensor, places)]
        if found:
            label = graph.name.decode() if isinstance(graph.name, bytes) else str(graph.name)
            self.outputs[name] = label, found

    def called(self, name: str, outputs: Sequence[Any]) -> None:
        """A function has returned these."""
        if name not in self.outputs:
            return
        label, indices = self.outputs[name]
        loc = self._recording.sites.current()
        for device in {
            short_device(outputs[index].backing_device) for index in indices if index < len(outputs)
        }:
            fields = ReturnedFields(op=label, loc=loc, device=device)
            self._recording.key(("returned", label, loc, device), "returned", fields, counted=False)


def _is_gradient(tensor: Any, places: dict[str, tuple[Any, ...]]) -> bool:
    op = tensor.op
    while op.type in _PASSED_ON and not places.get(op.name, (0, 0))[1] and len(op.inputs):
        op = op.inputs[0].op
    return bool(places.get(op.name, (0, 0))[1])
