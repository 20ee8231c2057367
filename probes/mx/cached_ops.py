"""Records hybridized blocks: their ops as a placed graph, and each call of it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from typing import Any

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.hop import HOST
from ..trace.recording import Recording, clock
from .arrays import Arrays
from .graphs import ARGUMENT, Op, PlacedGraph, internal_shapes
from .marks import Mark
from .mixed_inputs import MixedInputs
from .symbols import SymbolSites
from .tape import Forward, Tape

MOST_GRAPHS = 64
"""Graphs that one block gets for its different input shapes; further ones are counted with the last."""


@dataclasses.dataclass
class _Cached:
    symbol: Any
    graphs: dict[Any, PlacedGraph] = dataclasses.field(default_factory=dict)
    """By device and extents of the first input."""
    marks: dict[Any, Mark] = dataclasses.field(default_factory=dict)
    forwards: dict[tuple[int, str], Forward] = dataclasses.field(default_factory=dict)


class CachedOps:
    """The hook and its tables."""

    def __init__(
        self, recording: Recording, arrays: Arrays, tape: Tape, mixed: MixedInputs, sites: SymbolSites
    ) -> None:
        """`sites` knows the lines of the symbols that blocks are traced into."""
        self._recording = recording
        self._arrays = arrays
        self._tape = tape
        self._mixed = mixed
        self._sites = sites
        self._cached: dict[int, _Cached] = {}

    def made(self, handle: int, symbol: Any) -> None:
        """A block was traced."""
        self._cached[handle] = _Cached(symbol)

    def freed(self, handle: int) -> None:
        """A block's graph is gone."""
        self._cached.pop(handle, None)

    def called(self, handle: int, inputs: Sequence[Any], result: Any, start: int) -> None:
        """A traced block was run on arrays."""
        dur = clock() - start
        known = self._cached.get(handle)
        if known is None and self._recording.late:
            self._recording.unseen("ops of hybridized blocks", "traced before the recorder came")
        if known is None or not inputs:
            return
        loc = self._recording.sites.current(2)
        first = inputs[0].handle
        device = self._arrays.mark(first).device
        identity = (device, self._arrays.shape(first))
        graph = known.graphs.get(identity)
        if graph is None:
            graph = self._graph(known, identity, inputs, loc)
            for array in inputs if device is HOST else ():
                self._arrays.on_used(array.handle)
        graph.called(loc, start, dur)
        outputs = result if isinstance(result, (list, tuple)) else (result,)
        name = graph.name
        for index, output in enumerate(outputs):
            mark = known.marks.get((identity, index, loc))
            if mark is None:
                size = self._arrays.size(output.handle)
                mark = Mark(name, loc, device, "", size, self._arrays.totals[device])
                mark.filled = True  # with static_alloc the next call writes to the same memory
                known.marks[(identity, index, loc)] = mark
            self._arrays.made(output.handle, mark)
        if self._tape.on:
            forward = known.forwards.get((loc, device))
            if forward is None:
                forward = known.forwards[(loc, device)] = Forward(name, loc, device)
            self._tape.made(inputs, outputs, forward)

    def refused(self, handle: int, inputs: Sequence[Any]) -> None:
        """The call raised: with inputs on several contexts it always does."""
        known = self._cached.get(handle)
        if known is not None and inputs:
            self._mixed.refused(known.symbol.name or "a hybridized block", inputs)

    def _graph(self, known: _Cached, identity: Any, inputs: Sequence[Any], loc: int) -> PlacedGraph:
        if len(known.graphs) >= MOST_GRAPHS:
            return next(reversed(known.graphs.values()))
        symbol, device = known.symbol, identity[0]
        written = set(symbol.list_auxiliary_states())
        self._arrays.written_unseen.update(
            array.handle.value for name, array in zip(symbol.list_inputs(), inputs) if name in written
        )
        name = symbol.name or "hybridized block"
        dtype, size = self._arrays.dtype(inputs[0].handle)
        graph = PlacedGraph(self._recording, name, f"CachedOp of {name}", loc, size, dtype)
        try:
            graph.add(self._read(symbol, device, inputs, loc))
        except Exception as error:  # noqa: BLE001 - the program goes on without this graph being seen
            self._recording.failed("ops of hybridized blocks", error)
        known.graphs[identity] = graph
        return graph

    def _read(self, symbol: Any, device: str, inputs: Sequence[Any], loc: int) -> list[Op]:
        nodes = json.loads(symbol.tojson())["nodes"]
        shapes = {name: self._arrays.shape(array.handle) for name, array in zip(symbol.list_inputs(), inputs)}
        found = internal_shapes(symbol, shapes)
        ops = []
        for node in nodes:
            variable = node["op"] == "null"
            made_from = [(nodes[source]["name"], output) for source, output, *_ in node["inputs"]]
            op = Op(node["name"], ARGUMENT if variable else node["op"], made_from, device)
            op.loc = 0 if variable else self._sites.of(node["name"]) or loc
            known = shapes.get(node["name"])
            op.shapes = [known] if known is not None else found.get(node["name"], [])
            ops.append(op)
        return ops


def install(recording: Recording, arrays: Arrays, tape: Tape, mixed: MixedInputs, sites: SymbolSites) -> None:
    """Hook the class whose instances are hybridized blocks' graphs."""
    from mxnet._ctypes.ndarray import CachedOp
    from mxnet.base import MXNetError

    cached = CachedOps(recording, arrays, tape, mixed, sites)
    guard = recording.guard("calls of hybridized blocks")
    owner: Any = CachedOp
    init: Callable[..., None] = owner.__init__
    call: Callable[..., Any] = owner.__call__
    delete: Callable[..., None] = owner.__del__

    @stands_for(init)
    def __init__(self: Any, sym: Any, *args: Any, **kwargs: Any) -> None:
        with PASSING:
            init(self, sym, *args, **kwargs)
        with guard:
            cached.made(self.handle.value, sym)

    @stands_for(call)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        start = clock()
        try:
            result = call(self, *args, **kwargs)
        except BaseException as error:
            if isinstance(error, MXNetError):
                with guard:
                    cached.refused(self.handle.value, args)
            drop_frame(error)
            raise
        with guard:
            cached.called(self.handle.value, args, result, start)
        return result

    @stands_for(delete)
    def __del__(self: Any) -> None:
        with guard:
            cached.freed(self.handle.value)
        with PASSING:
            delete(self)

    owner.__init__, owner.__call__, owner.__del__ = __init__, __call__, __del__
