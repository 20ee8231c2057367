"""Follows traced functions (tf.function): what they are made of, and every call of them.

At tracing, each op's line and requested device are noted. At a function's first run on new input
devices the runtime exports the placed graphs (run metadata), which are read once. From then on a call
costs two clock reads and one event.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional

from ..trace.passed_calls import PassedCalls
from ..trace.pulled import Pulled
from ..trace.recording import Recording
from ..trace.rows import BY_XLA
from ..trace.schema import AgainFields, CallFields, PulledFields
from .first_calls import FirstCalls
from .function_graphs import FunctionGraphs, export
from .function_notes import FunctionNote, note_of
from .handed import Handed
from .host_waits import mark_results
from .live import SMALL_ELEMENTS, LiveBytes
from .marks import Mark, of_calls
from .marks import mark as mark_of
from .observed import Observed
from .opaque import compiled_call
from .placed import PlacedGraph
from .remote import Remote
from .runtime_events import Ops
from .sampled import SampledCounts, SampledGraph


class UsualCall(NamedTuple):
    """What all calls of a function have in common."""

    key: int
    mark: Mark
    steps: int
    """Steps that a call ends."""
    step_key: int
    counted: Optional[SampledGraph]
    """What counts hops inside of loops and branches; None where the graph has none."""


class RunningCall:
    """A call of a function that is recorded in full."""

    __slots__ = ("ctx", "first", "held", "inputs", "name", "observing", "task", "window")

    def __init__(self, ctx: Any, name: str, inputs: Any, task: str, first: bool, held: bool) -> None:
        """It is about to run in a context."""
        self.ctx = ctx
        self.name = name
        self.inputs = inputs
        self.task = task
        """The process that runs it, where that is another one; '' else."""
        self.first = first
        """No call of this function has ended yet."""
        self.held = held
        """Others' first calls wait for this one."""
        self.observing: Any = None
        self.window: Any = None


class Functions:
    """The traced functions of this process."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.called: set[str] = set()
        self.notes: dict[str, FunctionNote] = {}
        self.handed = Handed(recording)
        """What graphs hand to tf.py_function."""
        self.firsts = FirstCalls()
        self._guard = recording.guard("calls of functions")
        self.sampled = SampledCounts(recording, self.notes)
        self.observed = Observed.wanted(recording)
        """Counts in place of `sampled`, where that was asked for."""
        self.remote = Remote(recording, self.notes)
        self.graphs = FunctionGraphs(recording, self.notes)
        self.graphs.on_placed.append(self.handed.placed)
        self.placed = self.graphs.placed
        self._find = self.graphs.find
        self._calls: dict[tuple[str, int, int], tuple[int, Mark]] = {}
        """Key, and mark of what is returned, by the runtime's name, the graph and the line."""
        self._live = LiveBytes.of(recording)
        self.usual: dict[str, Optional[UsualCall]] = {}
        """By the runtime's name: the calls of a function that all its calls are like; None of others."""
        self._passed = PassedCalls(recording)
        self.followed: set[str] = set()
        """Functions whose calls go by way of `call_followed`, between windows, too."""
        self.call_followed: Any = None
        """Calls a function, and notes more of it: ``(ctx, name, inputs, outputs, text)``."""
        self._last: dict[str, int] = {}
        self.windows: Any = None

    # -- tracing -----------------------------------------------------------------------------------

    def traced(self, name: str, graph: Any, attrs: Any) -> None:
        """A graph became a function of the runtime."""
        self.recording.windows.new()
        note = self.notes[name] = note_of(graph, attrs, self.notes)
        for op in graph.get_operations():
            self.handed.traced(op, note.ops[op.name].loc)

    # -- running -----------------------------------------------------------------------------------

    def begins(self, ctx: Any, name: str, inputs: Any) -> RunningCall:
        """Before a call that is recorded in full; `ended` is to be called after it."""
        task = self.remote.task(ctx)
        first = not task and name not in self.firsts.settled
        call = RunningCall(ctx, name, inputs, task, first, first and self.firsts.begin(name))
        try:
            call.observing = None if task else self._observed(name)
            self.called.add(name)
            if self.windows:
                call.window = self.windows.begin(name, self._last.get(name, 0))
        except BaseException:
            self._settle(call)
            raise
        return call

    def ended(self, call: RunningCall, outputs: Any, start: int, dur: int) -> None:
        """A call of a function has returned (or raised: then `outputs` is None)."""
        ops = None
        try:
            if call.window is not None:
                with self._guard:
                    ops = self.windows.end(call.window)
            self._ran(call, outputs, start, dur, ops)
        finally:
            self._settle(call)

    def _settle(self, call: RunningCall) -> None:
        if call.first:
            self.firsts.end(call.name, call.held)

    def _ran(self, call: RunningCall, outputs: Any, start: int, dur: int, ops: Optional[Ops]) -> None:
        """Record the call, with the ops that its window saw, if it had one."""
        name, inputs, task = call.name, call.inputs, call.task
        location = self.recording.sites.current(3)
        metadata = (
            b"" if self.firsts.others() or not self.graphs.may_be_new(name, inputs) else export(call.ctx)
        )
        if metadata:
            self.graphs.read(name, metadata, inputs, location, call.ctx)
        self._last[name] = dur
        note = self.notes.get(name)
        graph, number = None, 0
        if task:
            number = self.remote.called(name, task, inputs, location)
        else:
            graph, number = self._graph(name, note, inputs, location)
        if ops is not None and graph is not None:
            self.windows.times(graph, ops)
        identity = (name, number, location)
        known = self._calls.get(identity)
        if known is None:
            known = self._calls[identity] = self._new_call(*identity)
            self.usual[name] = self._usual_call(identity, known, graph)
        key, mark = known
        self.recording.kept_counts[key] += 1
        self.recording.event("call", start, dur, key)
        if not task:
            self._count_inside(name, graph, dur, call.observing, ops)
        if graph is not None:
            if graph.sent:
                self._sent(graph, inputs)
            if outputs and graph.awaited:
                mark_results(outputs, graph.awaited)
        elif not task:
            self._not_placed(name, note, outputs, location)
        self._mark(outputs or (), mark, bool(task))
        if note is not None and note.steps:
            self.recording.stepped(note.steps, location)

    def _graph(
        self, name: str, note: Optional[FunctionNote], inputs: Any, location: int
    ) -> tuple[Optional[PlacedGraph], int]:
        """The graph that a call ran, where it was read, and its number, where it will be."""
        graph, number = self._find(name, inputs), 0
        if graph is None and note is not None and not note.compiled:
            graph, number = self.graphs.find_or_await(name, inputs, location)
        return graph, number if graph is None else graph.id

    def _count_inside(
        self, name: str, graph: Optional[PlacedGraph], dur: int, observing: Any, ops: Optional[Ops]
    ) -> None:
        """Count what ran in loops and branches; calls of another process's are not observed."""
        if self.observed is None:
            self.sampled.ran(name, graph, dur, ops)
        elif observing is not None or (graph is not None and graph.observe):
            self.observed.end(observing, graph)

    def _not_placed(self, name: str, note: Optional[FunctionNote], outputs: Any, location: int) -> None:
        """Say what goes unseen of a call whose graph is not known."""
        if note is not None and note.compiled:
            self.recording.unseen(f"ops inside {note.label}", BY_XLA, len(note.ops))
            compiled_call(self.recording, note.label, note.ops.values(), outputs, note.made, location)
        elif note is None and self.recording.late:
            label = re.sub(r"^__inference_|_\d+$", "", name)
            self.recording.unseen(f"ops inside {label}", "it was traced before the recorder came")

    def _mark(self, outputs: Any, mark: Mark, elsewhere: bool) -> None:
        for output in outputs:
            output._hopscope = mark
            # Asking for the size of what another process will make would wait for it.
            elements = 0 if elsewhere else output._num_elements()
            if elements >= SMALL_ELEMENTS:
                output._hopscope_live = self._live.tensor(output, output.backing_device, elements)

    def _usual_call(
        self, identity: tuple[str, int, int], known: tuple[int, Mark], graph: Optional[PlacedGraph]
    ) -> Optional[UsualCall]:
        name, _, location = identity
        note = self.notes.get(name)
        if graph is None or note is None or name in self.usual or self.observed is not None:
            return None
        step_key = self.recording.step_key(location) if note.steps else 0
        return UsualCall(*known, note.steps, step_key, self.sampled.of_graph(name, graph))

    def ran_as_usual(self, usual: UsualCall, outputs: Any, start: int, dur: int) -> None:
        """Count a call between windows, without a look at what it was given."""
        key, mark, steps, step_key, counted = usual
        for output in outputs or ():
            output._hopscope = mark
        if counted is not None:
            counted.passed += 1
        self._passed.add(key, start, dur, step_key, steps)

    def _new_call(self, name: str, graph: int, location: int) -> tuple[int, Mark]:
        note = self.notes.get(name)
        label = note.label if note else name
        fields = CallFields(graph=graph, function=label, runtime_name=name, loc=location)
        key = self.recording.key(("call", name, graph, location), "call", fields)
        self.recording.uncount(key)
        mark = mark_of(label, location, "", "")
        of_calls.add(mark)
        return key, mark

    def _sent(self, graph: PlacedGraph, inputs: Any) -> None:
        """Note which arguments crossed; count those whose very tensor did so in an earlier call already.

        Who tries a model out gives it the same batch in each call: what the caller gives counts only beside
        something that is new.
        """
        given = graph.most_given
        new = False
        for tensor in inputs[:given]:
            new = new or (given > 1 and "_hopscope_given" not in tensor.__dict__)
            tensor._hopscope_given = True
        for index, again, given, way in graph.sent:
            if index >= len(inputs):
                continue
            noted = inputs[index].__dict__  # a tensor takes long to say that it lacks an attribute
            pulled = noted.get("_hopscope_pulled")
            if pulled is not None:
                self._sent_on(again, way, pulled)
            sent = noted.get("_hopscope_sent")
            if sent is None:
                inputs[index]._hopscope_sent = {again}
            elif again in sent:
                self.recording.counts[again] += new or not given
            else:
                sent.add(again)

    def _sent_on(self, number: int, way: AgainFields, pulled: Pulled) -> None:
        """Count a transfer, which has this number, of an argument made of an array that Python had taken."""
        recording, identity = self.recording, ("pulled", number, pulled)
        key = recording.known_key(identity)
        if key is None:
            fields = PulledFields(
                graph=way["graph"],
                tensor=way["tensor"],
                src=way["src"],
                dst=way["dst"],
                pulled_loc=pulled.loc,
                facts=pulled.facts,
            )
            key = recording.key(identity, "pulled", fields, counted=False)
        recording.counts[key] += 1

    def _observed(self, name: str) -> Any:
        """Before a call: start observing where a graph of it has hops inside loops or branches."""
        if self.observed is None:
            return None
        graphs = self.placed.get(name)
        if graphs:
            for graph in graphs:
                if graph.observe:
                    return self.observed.begin(graph)
        elif name in self.notes and name not in self.called:
            return self.observed.begin_unknown(self.notes[name])
        return None
