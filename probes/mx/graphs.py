"""Writes a bound symbol's graph to the trace: its ops, where each runs, and what they hand on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..trace.hop import HopConsumer, HopProducer, HopTensor, hop_key
from ..trace.recording import Recording
from ..trace.schema import CallFields, Edge, HopFacts, Node
from .silent import inferring, silent

Shape = Optional[tuple[int, ...]]
ARGUMENT = "_Arg"


@dataclasses.dataclass
class Op:
    """One op of a placed graph; `inputs` are (name of the producer, its output's number)."""

    name: str
    op: str
    inputs: list[tuple[str, int]]
    device: str = ""
    requested: str = ""
    loc: int = 0
    forward_loc: int = 0
    shapes: list[Shape] = dataclasses.field(default_factory=list)
    """Of its outputs, where known."""
    beside: str = ""
    """The op whose device it got because it asked for none."""

    def shape(self, output: int) -> Shape:
        """Extents of one output, None where they are not known."""
        return self.shapes[output] if output < len(self.shapes) else None


def internal_shapes(symbol: Any, shapes: Mapping[str, Sequence[int]]) -> dict[str, list[Shape]]:
    """Extents of every op's outputs by its name, as MXNet infers them from those of the inputs."""
    internals = silent(symbol).get_internals()
    arguments = set(symbol.list_arguments())
    known = {name: shape for name, shape in shapes.items() if name in arguments}
    with inferring():
        _, found, _ = internals.infer_shape_partial(**known)
    result: dict[str, list[Shape]] = {}
    for name, shape in zip(internals.list_outputs(), found or ()):
        op, mark, output = name.rpartition("_output")
        if mark:
            outputs = result.setdefault(op, [])
            outputs += [None] * (int(output or 0) + 1 - len(outputs))
            outputs[int(output or 0)] = tuple(shape) if shape and 0 not in shape else None
    return result


class PlacedGraph:
    """A graph in the trace; ops may be added in parts, a hop is defined for every edge between devices."""

    def __init__(
        self, recording: Recording, name: str, function: str, loc: int, size: int, dtype: str
    ) -> None:
        """`size` is bytes an element of `dtype`, the type of everything in the graph."""
        self._recording = recording
        self._size = size
        self._dtype = dtype
        self.id = recording.graph(name=name, function=function, loc=loc)
        self.name = name
        self._function = function
        self._ops: dict[str, tuple[int, Op]] = {}
        self._calls: dict[int, int] = {}
        self._crossed: set[tuple[str, int, str]] = set()

    def add(self, ops: Sequence[Op]) -> list[int]:
        """Write ops, producers before consumers, and return the keys of the transfers into them.

        What several ops of one device take of one output is one transfer; a later part takes what an
        earlier one has had sent.
        """
        crossings: dict[tuple[str, int, str], list[Op]] = {}
        for op in ops:
            number = len(self._ops) + 1
            self._ops[op.name] = (number, op)
            self._recording.node(
                Node(self.id, number, op.name, op.op, op.requested, op.device, op.loc, op.forward_loc)
            )
            for slot, (producer, output) in enumerate(op.inputs):
                if producer not in self._ops:
                    continue
                source_number, source = self._ops[producer]
                shape = source.shape(output)
                self._edge(source_number, output, number, slot, shape)
                if source.device != op.device and (producer, output, op.device) not in self._crossed:
                    crossings.setdefault((producer, output, op.device), []).append(op)
        self._crossed.update(crossings)
        return [self._hop(*crossing, consumers) for crossing, consumers in crossings.items()]

    def called(self, loc: int, start: int, dur: int) -> None:
        """One execution of the whole graph, asked for by the code at `loc`."""
        key = self._calls.get(loc)
        if key is None:
            fields = CallFields(graph=self.id, function=self._function, loc=loc)
            identity = ("call", self.id, loc)
            key = self._calls[loc] = self._recording.key(identity, "call", fields, counted=False)
        self._recording.kept_counts[key] += 1
        self._recording.event("call", start, dur, key)

    def _bytes(self, shape: Shape) -> Optional[int]:
        if shape is None:
            return None
        size = self._size
        for extent in shape:
            size *= extent
        return size

    def _edge(self, source: int, output: int, target: int, slot: int, shape: Shape) -> None:
        extents = "x".join(map(str, shape)) if shape is not None else "?..."
        size = self._bytes(shape)
        self._recording.edge(Edge(self.id, source, output, target, slot, size, self._dtype, extents))

    def _hop(self, producer: str, output: int, device: str, consumers: list[Op]) -> int:
        source, first = self._ops[producer][1], consumers[0]
        shape = source.shape(output)
        facts: HopFacts = {}
        if first.beside and not first.requested:
            facts["colocated_with"] = first.beside
        if source.beside and not source.requested:
            facts["producer_colocated_with"] = source.beside
        names, basis = [op.name for op in consumers], "estimated" if shape is not None else "unknown"
        fields = hop_key(
            HopProducer(source.device, source.op, source.loc, producer, source.requested),
            HopConsumer(device, first.op, first.loc, first.requested, first.forward_loc, names),
            HopTensor(self._bytes(shape), self._dtype, shape or (), basis),
            "copy",
            graph=self.id,
            facts=facts,
        )
        return self._recording.key(("graph hop", self.id, producer, output, device), "hop", fields)
