"""Follows traced functions (tf.function): what they are made of, when they are placed, every call of them.

At tracing, each op's line and requested device are noted. At a function's first run on new input
devices the runtime exports the placed graphs (run metadata); they are read once (`placed`). From then
on a call costs two clock reads and one event.
"""

from __future__ import annotations

import re
import threading
from typing import Any, Callable, NamedTuple, Optional

from ..trace.recording import Recording, clock
from ..trace.rows import RUNTIMES_GRAPHS
from .awaited import Awaited
from .awaiting import mark_results
from .definitions import made_at
from .exported import exported
from .gradients import current as gradient
from .live import SMALL_ELEMENTS, LiveBytes
from .marks import mark as mark_of
from .marks import of_calls
from .names import short_device
from .observed import Observed
from .op_notes import called_by, op_notes
from .opaque import compiled_call
from .origins import NOT_KNOWN, Calling, OpNote
from .placed import PlacedGraph, read_placed
from .placed_nodes import ARGUMENTS, RESULTS
from .remote import Remote
from .scopes import current as current_scope

_CONTROL_FLOW = {"While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase", "Switch", "Enter"}


class FunctionNote(NamedTuple):
    """What is known of a traced function from tracing it."""

    label: str
    """For people: the Python function's name."""
    ops: dict[str, OpNote]
    steps: int
    compiled: bool
    """jit_compile=True: XLA takes it whole."""
    collectives: list[dict[str, Any]]
    control_flow: bool
    """It, or a function that it calls, has a loop or a branch."""
    callees: set[str]
    """Runtime names of the functions that it calls, and that those call: bodies and branches too."""
    made: int = 0
    """Location of the line that made it a traced function."""
    captures: int = 0
    """How many of its last arguments are tensors of outside that it uses, the same ones in each call."""


class Functions:
    """The traced functions of this process."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.called: set[str] = set()
        self.notes: dict[str, FunctionNote] = {}
        self.python_homes: dict[bytes, str] = {}
        """tf.py_function's token -> the device that the code asked for."""
        self.python_lines: dict[bytes, int] = {}
        """The same -> location of the line that has the graph call it."""
        self.placed: dict[str, list[PlacedGraph]] = {}
        self.on_placed: list[Callable[[str, dict[str, FunctionNote], Any], None]] = []
        """Called with each placed graph that was read, its function's name and what is known of all."""
        self.observed = Observed(recording)
        self.remote = Remote(recording, self.notes)
        self._awaited = Awaited(recording, self.notes)
        self._lock = threading.RLock()
        self._keys: dict[tuple[str, int, int], int] = {}
        self._live = LiveBytes.of(recording)
        self._last: dict[str, int] = {}
        self.windows: Any = None

    # -- tracing -----------------------------------------------------------------------------------

    def traced(self, name: str, graph: Any, attrs: Any) -> None:
        """A graph became a function of the runtime."""
        ops = op_notes(graph)
        steps = getattr(graph, "_hopscope_steps", 0)
        collectives = list(getattr(graph, "_hopscope_collectives", ()))
        control_flow = False
        callees: set[str] = set()
        for op in graph.get_operations():
            if op.type in ("PartitionedCall", "StatefulPartitionedCall"):
                callee = self.notes.get(op.get_attr("f").name)
                if callee is not None:
                    steps += callee.steps
                    collectives += callee.collectives
                    control_flow = control_flow or callee.control_flow
            control_flow = control_flow or op.type in _CONTROL_FLOW
            if op.type == "EagerPyFunc":
                token = op.get_attr("token")
                self.python_lines[token] = ops[op.name].loc
                if op.device:
                    self.python_homes[token] = short_device(op.device)
            for callee_name in called_by(op):
                callees.add(callee_name)
                if callee_name in self.notes:
                    callees |= self.notes[callee_name].callees
        compiled = bool(attrs and "_XlaMustCompile" in attrs and _truth(attrs["_XlaMustCompile"]))
        label = graph.name.decode() if isinstance(graph.name, bytes) else str(graph.name)
        parts = label, ops, steps, compiled, collectives, control_flow, callees
        self.notes[name] = FunctionNote(*parts, made_at(graph), len(getattr(graph, "captures", ())))

    # -- running -----------------------------------------------------------------------------------

    def ran(
        self,
        ctx: Any,
        name: str,
        inputs: Any,
        outputs: Any,
        start: int,
        dur: int,
        observing: Any = None,
        window: Any = None,
        task: str = "",
    ) -> None:
        """A call of a function has returned (or raised: then `outputs` is None).

        `task` names the process that runs it, where that is another one.
        """
        location = self.recording.sites.current(2)
        metadata = _export(ctx)
        if metadata:
            self._read(name, metadata, inputs, location, ctx)
        graph = self._instance(name, inputs) if not task else None
        if window is not None:
            self.windows.end(window, graph)
        self._last[name] = dur
        note = self.notes.get(name)
        number = 0
        if task:
            number = self.remote.called(name, task, inputs, location)
        elif graph is None and note is not None and not note.compiled:
            with self._lock:  # it may be read at this moment, by another thread that runs the same
                graph = self._instance(name, inputs)
                number = self._awaited.called(name, location) if graph is None else 0
        if graph is not None:
            number = graph.id
        identity = (name, number, location)
        key = self._keys.get(identity)
        if key is None:
            fields = {
                "graph": number,
                "function": note.label if note else name,
                "runtime_name": name,
                "loc": location,
            }
            key = self._keys[identity] = self.recording.key(("call", *identity), "call", fields)
            self.recording.uncount(key)
        self.recording.counts[key] += 1
        self.recording.event("call", start, dur, key)
        if observing is not None:
            self.observed.end(observing, graph)
        if graph is not None and graph.sent:
            self._sent(graph, inputs)
        if graph is None and note is not None and note.compiled and not task:
            why = "compiled by XLA (jit_compile): ops have no placement of their own"
            self.recording.unseen(f"ops inside {note.label}", why, len(note.ops))
            inside = note.ops.values()
            compiled_call(self.recording, note.label, inside, outputs, note.made, location)
        if note is None and self.recording.late and not task:
            label = re.sub(r"^__inference_|_\d+$", "", name)
            self.recording.unseen(f"ops inside {label}", "it was traced before the recorder came")
        if outputs:
            mark = mark_of(note.label if note else name, location, "", "")
            of_calls.add(mark)
            if graph is not None and graph.awaited:
                mark_results(outputs, graph.awaited)
            for output in outputs:
                output._hopscope = mark
                # Asking for the size of what another process will make would wait for it.
                elements = 0 if task else output._num_elements()
                if elements >= SMALL_ELEMENTS:
                    output._hopscope_live = self._live.tensor(output, output.device, elements)
        if note is not None and note.steps:
            self.recording.stepped(note.steps, location)

    def _sent(self, graph: PlacedGraph, inputs: Any) -> None:
        """Note which arguments crossed; count those whose very tensor did so in an earlier call already.

        Who tries a model out gives it the same batch in each call: what the caller gives counts only beside
        something that is new.
        """
        given = max(given for _, _, given in graph.sent)
        new = given > 1 and any(not hasattr(tensor, "_hopscope_given") for tensor in inputs[:given])
        for tensor in inputs[:given]:
            tensor._hopscope_given = True
        for index, again, given in graph.sent:
            if index >= len(inputs):
                continue
            sent = getattr(inputs[index], "_hopscope_sent", None)
            if sent is None:
                inputs[index]._hopscope_sent = {again}
            elif again in sent:
                self.recording.counts[again] += new or not given
            else:
                sent.add(again)

    def last_duration(self, name: str) -> int:
        """Nanoseconds of the function's last call; 0 before the first."""
        return self._last.get(name, 0)

    def begins(self, name: str) -> Any:
        """Before a call: start observing where a graph of it has hops inside loops or branches."""
        graphs = self.placed.get(name)
        if graphs:
            for graph in graphs:
                if graph.observe:
                    return self.observed.begin(graph)
        elif name in self.notes and name not in self.called:
            return self.observed.begin_unknown(self.notes[name])
        return None

    def _read(self, name: str, metadata: bytes, inputs: Any, location: int, ctx: Any) -> None:
        from tensorflow.core.protobuf import config_pb2

        with self._lock:
            for merged in config_pb2.RunMetadata.FromString(metadata).function_graphs:
                for function_graph, apart in exported(merged, name, self.notes):
                    self._read_one(name, function_graph, apart, inputs, location, ctx)

    def _read_one(
        self, name: str, function_graph: Any, apart: bool, inputs: Any, location: int, ctx: Any
    ) -> None:
        """Read one function's graph; `apart`: out of several that were made at a time."""
        if _one_op(function_graph):
            return
        owner = self._owner(name, function_graph, len(inputs))
        if owner is None:
            why = "made by the runtime itself, of no function that was traced here"
            self.recording.unseen(RUNTIMES_GRAPHS, why)
            return
        if apart and owner in self.placed:
            return  # another thread's making of the same
        arguments = inputs if owner == name else None
        called = _calling(ctx) if owner == name else NOT_KNOWN
        number = self._awaited.arrived(owner)
        try:
            graph = read_placed(
                self.recording, function_graph, owner, self.notes, arguments, location, number, called=called
            )
        except Exception as error:  # noqa: BLE001 - the program's call must not fail by it
            what = f"ops inside {self.notes[owner].label}"
            why = f"its placed graph can't be read: {type(error).__name__}: {error}"
            self.recording.unseen(what, why, len(self.notes[owner].ops))
            return
        graph.input_devices = _devices(inputs) if owner == name else None
        for tell in self.on_placed:
            tell(owner, self.notes, function_graph)
        self.placed.setdefault(owner, []).append(graph)

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

    def _instance(self, name: str, inputs: Any) -> Optional[PlacedGraph]:
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


def _calling(ctx: Any) -> Calling:
    device = short_device(ctx.device_name or "")
    return Calling(device, current_scope()) if device else NOT_KNOWN


def _one_op(function_graph: Any) -> bool:
    """The runtime's wrapper around a single eager op, which the op callback has seen."""
    edge = ("NoOp", *ARGUMENTS, *RESULTS)
    return sum(node.op not in edge for node in function_graph.pre_optimization_graph.node) <= 1


def _devices(inputs: Any) -> tuple[str, ...]:
    return tuple(tensor.device for tensor in inputs)


def _truth(value: Any) -> bool:
    return bool(getattr(value, "b", value))


def _export(ctx: Any) -> bytes:
    """Placed graphs collected since the last export; b'' (the common case) costs some microseconds."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session
    from tensorflow.python.framework import c_api_util

    with c_api_util.tf_buffer() as buffer:
        pywrap_tfe.TFE_ContextExportRunMetadata(ctx._context_handle, buffer)
        return bytes(pywrap_tf_session.TF_GetBuffer(buffer))


def install(recording: Recording) -> Functions:
    """Hook op creation in graphs, the making of functions and their calls."""
    from tensorflow.python.eager import context
    from tensorflow.python.eager.polymorphic_function import atomic_function
    from tensorflow.python.framework import ops

    functions = Functions(recording)

    create = ops.Graph._create_op_internal
    making, calling = recording.guard("the making of graphs"), recording.guard("calls of functions")

    def _create_op_internal(self: Any, *args: Any, **kwargs: Any) -> Any:
        op = create(self, *args, **kwargs)
        with making:
            places = getattr(self, "_hopscope_ops", None)
            if places is None:
                places = self._hopscope_ops = {}
            forward = gradient.forward_loc, gradient.forward_requested
            places[op.name] = (recording.sites.current(), *forward, current_scope(), gradient.forward_op)
        return op

    ops.Graph._create_op_internal = _create_op_internal

    from_graph = atomic_function.from_func_graph

    def from_func_graph(name: Any, graph: Any, attrs: Any, *args: Any, **kwargs: Any) -> Any:
        made = from_graph(name, graph, attrs, *args, **kwargs)
        with making:
            functions.traced(made.name.decode(), graph, attrs)
        return made

    atomic_function.from_func_graph = from_func_graph

    call = context.Context.call_function

    def call_function(self: Any, name: Any, tensor_inputs: Any, num_outputs: Any) -> Any:
        text = name.decode() if isinstance(name, bytes) else name
        task, observing, window, outputs = "", None, None, None
        with calling:
            task = functions.remote.task(self)
            observing = functions.begins(text) if not task else None
            functions.called.add(text)
            if functions.windows:
                window = functions.windows.begin(text, functions.last_duration(text))
        start = clock()
        try:
            outputs = call(self, name, tensor_inputs, num_outputs)
        finally:
            dur = clock() - start
            with calling:
                functions.ran(self, text, tensor_inputs, outputs, start, dur, observing, window, task)
        return outputs

    context.Context.call_function = call_function
    return functions
