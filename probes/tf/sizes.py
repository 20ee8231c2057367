"""What the tensors of a placed graph are: their bytes, types and shapes, as far as anything tells."""

from __future__ import annotations

import math
from typing import Any, Optional

from ..trace.recording import Recording
from .names import shape_text
from .origins import Origins
from .shapes import Shape, infer_shapes

_UNKNOWN: Shape = (None, "", 0)


class Sizes:
    """The tensors of one graph."""

    def __init__(
        self, recording: Recording, label: str, graph: Any, arguments: Optional[Any], origins: Origins
    ) -> None:
        """`graph` is the placed one before it was cut, `arguments` the call's tensors where known."""
        self._origins = origins
        self._nodes = {node.name: node for node in graph.node}
        self._shapes: dict[tuple[str, int], Shape] = {}
        with recording.guard(f"the bytes of what crosses in {label}"):
            self._shapes = infer_shapes(graph, arguments)

    def of(self, name: str, output: int) -> tuple[Optional[int], str, str]:
        """(bytes, None where not known; dtype's name; shape) of what a node gives."""
        dims, dtype, item = self._shapes.get((name, output), _UNKNOWN)
        if dims is None or None in dims:
            dims = self._as_traced(name, output, dims)
        size: Optional[int] = None
        if dims is not None and item and None not in dims:
            size = item * math.prod(extent for extent in dims if extent is not None)
        return size, dtype, shape_text(dims)

    def _as_traced(
        self, name: str, output: int, dims: Optional[list[Optional[int]]]
    ) -> Optional[list[Optional[int]]]:
        """What the code said of a shape (set_shape) does not come with the graph; the traced one has it."""
        node = self._nodes.get(name)
        traced = None if node is None else self._origins.shape(node, output)
        if traced is None or dims is None:
            return traced
        # An optimization may have turned it round, and then it fits no more.
        fits = len(traced) == len(dims) and all(a in (None, b) or b is None for a, b in zip(dims, traced))
        return [b if a is None else a for a, b in zip(dims, traced)] if fits else dims
