"""The placed graphs of sessions of TensorFlow 1, read once for each set of fetches, targets and feeds.

A run that is asked for `output_partition_graphs` gives its executors' graphs back, one a device and joined by
``_Send`` and ``_Recv``, as a function's run metadata has them; it is placed and run no other way for it
(`DirectSession::Run` in direct_session.cc copies them out after the run). What is fed arrives as ``_Arg``
nodes named ``_arg_NAME_SLOT_INDEX``, what is fetched leaves by ``_Retval``, both on the client's device
(`RewriteGraphForExecution` in subgraph.cc); these are told as uploads and syncs at the line of the run.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from ..trace.guard import is_own
from ..trace.recording import Recording
from ..trace.schema import CallFields
from .function_notes import FunctionNote
from .functions import Functions
from .names import short_device
from .op_notes import called_by, op_notes
from .origins import Calling
from .placed import GraphCall, PlacedGraph, read_placed, unreadable
from .placed_nodes import ARGUMENTS, SENDS
from .uncut import uncut

_MOST = 64
"""Sets of fetches, targets and feeds whose graphs are read, of one session."""
_NAMES = 2
_FED = re.compile(r"^_arg_(?P<name>.*)_(?P<slot>\d+)_\d+$")
_LOOPS = "executions of hops inside loops and branches"


class Fed:
    """What a graph's reader asks of an argument: one that a run of a session was fed."""

    def __init__(self, value: Any) -> None:
        from tensorflow.python.framework import tensor_shape

        self.shape = tensor_shape.TensorShape(getattr(value, "shape", None))


class Request:
    """The options of a run that asks for its graphs, and where they will be.

    Where the code has options or metadata of its own (a monitored session always has), the same are asked
    for besides, and its metadata has these graphs too until `session.run` returns (sessions.py).
    """

    def __init__(self, identity: tuple[Any, ...], options: Any, metadata: Any) -> None:
        from tensorflow.core.protobuf import config_pb2
        from tensorflow.python.client import pywrap_tf_session as api

        self.identity = identity
        asked = config_pb2.RunOptions.FromString(bytes(api.TF_GetBuffer(options)) if options else b"")
        asked.output_partition_graphs = True
        self.options = api.TF_NewBufferFromString(asked.SerializeToString())
        self._own = metadata is None
        self.metadata = api.TF_NewBuffer() if self._own else metadata

    def take(self) -> bytes:
        """The run metadata, b'' where the run failed; frees what was made for it."""
        from tensorflow.python.client import pywrap_tf_session as api

        found = bytes(api.TF_GetBuffer(self.metadata))
        api.TF_DeleteBuffer(self.options)
        if self._own:
            api.TF_DeleteBuffer(self.metadata)
        return found


class SessionGraph(NamedTuple):
    """What a session placed for one set of fetches, targets and feeds."""

    placed: PlacedGraph
    fed: Mapping[str, tuple[str, ...]]
    """By the name of a tensor that is fed: the devices other than the host that it is sent to."""


class _Whole(NamedTuple):
    """What a graph's reader takes: as a function's run metadata has it."""

    post_optimization_graph: Any
    partition_graphs: list[Any]


class SessionGraphs:
    """The graphs of this process's sessions, by what was run."""

    def __init__(self, recording: Recording, functions: Functions) -> None:
        """`functions` knows those that a session's ops may call."""
        self.recording = recording
        self._functions = functions
        self._known: dict[tuple[Any, ...], Optional[SessionGraph]] = {}
        self._asked: dict[int, int] = {}
        self._keys: dict[tuple[int, int], int] = {}
        self._lock = threading.RLock()

    def asks(
        self, session: Any, targets: Any, fetches: Any, feeds: Any, options: Any, metadata: Any
    ) -> Optional[Request]:
        """What to run with where the graph of this is not known yet; None where it is, or can't be.

        `options` and `metadata` are the code's own, None where it has none.
        """
        identity = _identity(session, targets, fetches, feeds)
        with self._lock:
            if identity in self._known or self._asked.get(id(session), 0) >= _MOST or _refuses(session):
                return None
            self._known[identity] = None
            self._asked[id(session)] = self._asked.get(id(session), 0) + 1
        return Request(identity, options, metadata)

    def read(self, request: Request, session: Any, targets: Any, fetches: Any, feeds: Any) -> None:
        """Read the graphs of the run that was made with this request."""
        from tensorflow.core.protobuf import config_pb2

        metadata = request.take()
        if not metadata:
            with self._lock:
                del self._known[request.identity]  # it failed: the next one may not
            return
        parts = list(config_pb2.RunMetadata.FromString(metadata).partition_graphs)
        names = [*(op.name for op in targets), *(tensor.op.name for tensor in fetches)]
        label = f"session.run of {', '.join(names[:_NAMES])}{' ..' if len(names) > _NAMES else ''}"
        location = self.recording.sites.current(3)
        with self._lock:
            try:
                found = self._placed(label, session.graph, parts, feeds, location)
            except Exception as error:
                if not is_own(error):
                    raise
                count = sum(len(part.node) for part in parts)
                self.recording.unseen(f"ops inside {label}", unreadable(error), count)
                return
            self._known[request.identity] = SessionGraph(found, _sent_to(parts))
            if found.observe:
                why = "of a session's runs they are not counted"
                self.recording.unseen(_LOOPS, why, len(found.observe))

    def ran(
        self, session: Any, targets: Any, fetches: Any, feeds: Any, start: int, dur: int, location: int
    ) -> Optional[SessionGraph]:
        """Count a run; its graph, None where that is not known."""
        graph = self._known.get(_identity(session, targets, fetches, feeds))
        if graph is None:
            return None
        identity = graph.placed.id, location
        key = self._keys.get(identity)
        if key is None:
            fields = CallFields(graph=graph.placed.id, function="session.run", loc=location)
            key = self._keys[identity] = self.recording.key(("session", *identity), "call", fields)
            self.recording.uncount(key)
        self.recording.kept_counts[key] += 1
        self.recording.event("call", start, dur, key)
        return graph

    def _placed(
        self, label: str, graph: Any, parts: list[Any], feeds: Mapping[Any, Any], location: int
    ) -> PlacedGraph:
        name = f"session {len(self._known)}"
        ops = op_notes(graph, {node.name for part in parts for node in part.node})
        callees = {callee for op in ops for callee in called_by(graph.get_operation_by_name(op))}
        notes = self._functions.notes
        for callee in tuple(callees):
            callees |= notes[callee].callees if callee in notes else set()
        own = {name: FunctionNote(label, ops, 0, False, [], False, callees, graph=weakref.ref(graph))}
        library = graph.as_graph_def(from_version=graph.version).library
        whole = _Whole(uncut(parts, library), parts)
        arguments = _arguments(parts, feeds)
        call = GraphCall(arguments, location, scope=Calling(by_session=True))
        return read_placed(self.recording, whole, name, {**notes, **own}, call)


def _identity(session: Any, targets: Any, fetches: Any, feeds: Any) -> tuple[Any, ...]:
    return (
        id(session),
        id(session.graph),
        tuple(op.name for op in targets),
        tuple(tensor.name for tensor in fetches),
        tuple(reference.deref().name for reference in feeds),
    )


def _refuses(session: Any) -> bool:
    """Its configuration forbids it, and a run that asked would fail."""
    config = getattr(session, "_config", None)
    return config is not None and config.experimental.disable_output_partition_graphs


def _arguments(parts: Iterable[Any], feeds: Mapping[Any, Any]) -> list[Fed]:
    """What was fed, in the order of the graph's arguments."""
    fed = {reference.deref().name: value for reference, value in feeds.items()}
    found: dict[int, Fed] = {}
    for node in (node for part in parts for node in part.node if node.op in ARGUMENTS):
        found[node.attr["index"].i] = Fed(fed.get(_fed_name(node.name)))
    return [found.get(index) or Fed(None) for index in range(max(found, default=-1) + 1)]


def _fed_name(argument: str) -> str:
    """The name of the tensor that an argument's node stands for."""
    match = _FED.match(argument)
    return f"{match['name']}:{match['slot']}" if match else ""


def _sent_to(parts: Iterable[Any]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        fed = {node.name: _fed_name(node.name) for node in part.node if node.op in ARGUMENTS}
        for name in fed.values():
            found.setdefault(name, {})
        for node in part.node:
            if node.op in SENDS and node.input[0] in fed:
                device = short_device(node.attr["recv_device"].s.decode())
                found[fed[node.input[0]]][device] = None
    return {name: tuple(devices) for name, devices in found.items()}
