"""The placed graphs of traced functions: told apart and read when the runtime exports them, found at calls.

The runtime makes one for each set of devices that a function's arguments come from, and does not say of
which function it is.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Optional

from ..trace.guard import is_own
from ..trace.recording import Recording
from ..trace.rows import RUNTIMES_GRAPHS
from .awaited import Awaited
from .exported import Exported, exported
from .function_notes import FunctionNote
from .names import short_device
from .origins import NOT_KNOWN, Calling
from .placed import GraphCall, PlacedGraph, read_placed, unreadable
from .placed_nodes import ARGUMENTS, RESULTS
from .scopes import current as current_scope

_OF_HOST, _RESOURCE = (3, 7), 20
_AT = "_hopscope_at"
"""Attribute of a resource's handle: its device, which stays."""
_LOOK_EVERY = 32
"""Calls; looking costs some tens of microseconds."""
"""DataType of int32 and string, which count as the host's wherever they lie, and of resource handles."""
Tell = Callable[[str, dict[str, FunctionNote], Any], None]
"""Called with the function that a placed graph is of, what is known of all functions, and the graph."""


class FunctionGraphs:
    """The placed graphs of the functions traced in this process."""

    def __init__(self, recording: Recording, notes: dict[str, FunctionNote]) -> None:
        """`notes` are the functions' by their runtime names."""
        self.recording = recording
        self.notes = notes
        self.placed: dict[str, list[PlacedGraph]] = {}
        """By the function's runtime name, in the order in which they came."""
        self.on_placed: list[Tell] = []
        """Called with each graph that was read."""
        self._awaited = Awaited(recording, notes)
        self._made: set[tuple[str, ...]] = set()
        """Functions that were called, and on what: the runtime makes one graph for each."""
        self._calls = 0
        self._lock = threading.RLock()

    def may_be_new(self, name: str, inputs: Any) -> bool:
        """Whether a call on these inputs, which has ended, may have made a graph.

        Those of functions that ran inside, and in other threads, are looked for now and then.
        """
        note = self.notes.get(name)
        # What a function captured is the same, and where it was, in each call.
        given = len(inputs) - note.captures if note is not None else len(inputs)
        where = name, *[tensor.__dict__.get(_AT) or _device(tensor) for tensor in inputs[:given]]
        self._calls += 1
        if where in self._made and self._calls % _LOOK_EVERY:
            return False
        self._made.add(where)
        return True

    def find(self, name: str, inputs: Any) -> Optional[PlacedGraph]:
        """The one that a call on these inputs ran; None where none was read yet."""
        graphs = self.placed.get(name)
        if not graphs:
            return None
        if len(graphs) == 1:
            return graphs[0]
        where = _devices(inputs)
        for graph in reversed(graphs):
            if graph.input_devices == where:
                return graph
        return graphs[-1]

    def find_or_await(self, name: str, inputs: Any, location: int) -> tuple[Optional[PlacedGraph], int]:
        """The same, or the number that it will have when it comes."""
        with self._lock:  # it may be read at this moment, by another thread that runs the same
            graph = self.find(name, inputs)
            return graph, self._awaited.called(name, location) if graph is None else 0

    def read(self, name: str, metadata: bytes, inputs: Any, location: int, ctx: Any) -> None:
        """Read what the runtime exported at a call of `name`."""
        from tensorflow.core.protobuf import config_pb2

        with self._lock:
            graphs = config_pb2.RunMetadata.FromString(metadata).function_graphs
            for found in exported(graphs, name, self.notes):
                self._read_one(name, found, inputs, location, ctx)

    def _read_one(self, name: str, found: Exported, inputs: Any, location: int, ctx: Any) -> None:
        function_graph = found.graphs
        if _one_op(function_graph):
            return
        owner = found.owner or self._owner(name, function_graph, len(inputs))
        if owner is None:
            why = "made by the runtime itself, of no function that was traced here"
            self.recording.unseen(RUNTIMES_GRAPHS, why)
            return
        if found.apart and self._has(owner, _devices(inputs) if owner == name else None):
            return  # another thread's making of the same
        arguments = inputs if owner == name else None
        called = _calling(ctx) if owner == name else NOT_KNOWN
        number = self._awaited.number(owner)
        try:
            call = GraphCall(arguments, location, number, scope=called)
            graph = read_placed(self.recording, function_graph, owner, self.notes, call)
        except Exception as error:
            if not is_own(error):
                raise
            self._untold(owner, owner == name, unreadable(error))
            return
        self._awaited.arrived(owner)
        graph.input_devices = _devices(inputs) if owner == name else None
        for tell in self.on_placed:
            tell(owner, self.notes, function_graph)
        self.placed.setdefault(owner, []).append(graph)

    def _has(self, owner: str, where: Optional[tuple[str, ...]]) -> bool:
        """Whether the graph of a function for inputs of these devices was read; any where unknown."""
        graphs = self.placed.get(owner, ())
        return bool(graphs) if where is None else any(g.input_devices in (None, where) for g in graphs)

    def _untold(self, owner: str, called: bool, why: str) -> None:
        """A graph can't be read; `called`: by the program itself, so that its calls are counted."""
        if called and owner not in self.placed:
            self._awaited.failed(owner, why)
            return
        note = self.notes[owner]
        self.recording.unseen(f"ops inside {note.label}", f"{why}; counted once a trace", len(note.ops))

    def _owner(self, name: str, function_graph: Any, inputs: int) -> Optional[str]:
        """Whose graph it is: the caller's, or of another function that ran inside (map, py_function).

        A graph does not say. Its ops' names do, unless the runtime inlined everything at once; then a
        graph with the caller's number of arguments is the caller's.
        """
        nodes = function_graph.pre_optimization_graph.node
        found = {node.name for node in nodes}
        best, best_score = None, 0.5
        candidates = [name, *(other for other in reversed(list(self.notes)) if other != name)]
        for candidate in candidates:
            note = self.notes.get(candidate)
            if note is None or not found:
                continue
            score = len(found & note.ops.keys()) / max(len(found), len(note.ops))
            if score > best_score:
                best, best_score = candidate, score
            if score > 0.95:
                break
        arguments = sum(node.op in ARGUMENTS for node in nodes)
        if best is None and arguments == inputs and name in self.notes and name not in self.placed:
            return name
        return best


def export(ctx: Any) -> bytes:
    """Placed graphs collected since the last export; b'' (the common case) costs some microseconds."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session
    from tensorflow.python.framework import c_api_util

    with c_api_util.tf_buffer() as buffer:
        pywrap_tfe.TFE_ContextExportRunMetadata(ctx._context_handle, buffer)
        return bytes(pywrap_tf_session.TF_GetBuffer(buffer))


def _calling(ctx: Any) -> Calling:
    device = short_device(ctx.device_name or "")
    return Calling(device, current_scope()) if device else NOT_KNOWN


def _one_op(function_graph: Any) -> bool:
    """The runtime's wrapper around a single eager op, which the op callback has seen."""
    edge = ("NoOp", *ARGUMENTS, *RESULTS)
    return sum(node.op not in edge for node in function_graph.pre_optimization_graph.node) <= 1


def _devices(inputs: Any) -> tuple[str, ...]:
    """What the runtime tells a function's graphs apart by (GetDeviceForInput in execute.cc)."""
    return tuple(map(_device, inputs))


def _device(tensor: Any) -> str:
    kind = tensor._datatype_enum()
    if kind in _OF_HOST:
        return ""
    if kind != _RESOURCE:
        # Another function's result may lie elsewhere than it says.
        return str(tensor.backing_device)
    device = str(tensor.device)
    setattr(tensor, _AT, device)
    return device
