"""Reads a placed function graph: every op with its device, every tensor that crosses, with its bytes.

The runtime exports a function as it was before and after optimization and as partitions, one a device,
joined by ``_Send`` and ``_Recv`` pairs (`RunMetadata.function_graphs`). A pair that carries data is a
hop; one behind a ``/ctrl/`` node is a control edge, and one of a loop's predicate is neither.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple, Optional

from ..trace.recording import Recording
from ..trace.rows import BY_XLA
from ..trace.schema import AgainFields, CollectiveFields, Edge
from ..trace.schema import Node as NodeRecord
from .control_flow import ControlFlow
from .host_waits import Awaited, AwaitedResults
from .names import short_device
from .opaque import CLUSTERS, cluster, compiled_inside
from .origins import NOT_KNOWN, Calling, OpNote, Origins, on_process, split_input, within
from .placed_collectives import moved_tensor, write_collectives
from .placed_hops import PlacedHops
from .placed_nodes import ARGUMENTS, RECVS, RESULTS, SENDS, Node, internal, op_type, pair_of
from .sizes import Sizes

_FUNCTIONAL = ("While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall",
               "StatefulPartitionedCall", "MapDefun", "RemoteCall")  # fmt: skip

_NO_WITNESS = ("Switch", "RefSwitch", "_SwitchN", "Enter", "RefEnter", "Const", "HostConst", "_HostConst")

_TOLD = 300
"""Characters of an error's text that are told, at most: some name every input."""


@dataclasses.dataclass
class PlacedGraph:
    """A graph whose records have been written."""

    id: int
    input_devices: Optional[tuple[str, ...]]
    observe: dict[tuple[str, str, str], Watched]
    """Hops whose executions must be observed, by (send device, recv device, tensor name)."""
    exact: bool
    """They need each op's liveness, not only the sends: branches, nested loops."""
    nodes: dict[str, tuple[int, str]]
    """Name -> (number, device)."""
    sent: list[SentArgument]
    """Arguments that cross in each call."""
    awaited: dict[int, Awaited] = dataclasses.field(default_factory=dict)
    """Results in the host's memory that are made of what crosses to it, by their places."""

    @functools.cached_property
    def most_given(self) -> int:
        """How many arguments callers give, where any of these crosses; else 0."""
        return max((one.given for one in self.sent), default=0)


class SentArgument(NamedTuple):
    """An argument that crosses to one device."""

    place: int
    """Among the arguments."""
    again: int
    """The key that counts how often the same tensor does."""
    given: int
    """How many arguments the caller gives beside those that the function captured; 0 for a captured one."""
    way: AgainFields
    """The fields that tell the transfer from others: graph, tensor, src and dst."""


class Watched(NamedTuple):
    """A hop inside a loop or branch."""

    key: int
    send_node: str
    in_body: bool
    """Part of the loop's body: sent once more, dead, when the loop ends."""
    witness: bytes = b""
    """The op that runs as often as the tensor is sent alive; b'' where that follows from its sends."""

    def executions(self, ran: Mapping[bytes, int]) -> int:
        """How often it happened in a call in which the ops of these names ran so often."""
        if self.witness:
            return ran.get(self.witness, 0)
        return max(0, ran.get(self.send_node.encode(), 0) - self.in_body)


class GraphCall(NamedTuple):
    """The call that a placed graph was made for."""

    arguments: Optional[Any]
    """Its eager tensors, for shapes and where they came from; None of a call that was not seen."""
    location: int
    number: Optional[int] = None
    """The graph's, where calls of it were recorded before it came."""
    process: str = ""
    """``worker:1/``: what stands before the devices of another process that runs it."""
    scope: Calling = NOT_KNOWN
    """The device scope of the call."""


def read_placed(
    recording: Recording, function_graph: Any, owner: str, notes: dict[str, Any], call: GraphCall
) -> PlacedGraph:
    """Write the graph's records (G, N, E and the keys of its hops) and say what to observe."""
    return _Reader(recording, function_graph, owner, notes, call).write(call.location, call.number)


def unreadable(error: Exception) -> str:
    """The reason for which the ops of a placed graph were not seen."""
    told = " ".join(str(error).split())
    return f"its placed graph can't be read: {type(error).__name__}: {told[:_TOLD]}"


class _Reader:
    def __init__(
        self,
        recording: Recording,
        graph: Any,
        owner: str,
        notes: dict[str, Any],
        call: GraphCall,
    ) -> None:
        self.recording = recording
        self.graph = graph
        self.owner = owner
        self.notes = notes
        self.arguments = call.arguments
        self.process = call.process
        self.nodes: dict[str, Node] = {}
        self.sends: dict[tuple[str, str, str], Any] = {}
        self.made_by_optimizer: set[str] = set()
        self.sent_arguments: list[SentArgument] = []
        self.origins = Origins(owner, notes)
        self.flow = ControlFlow(graph.post_optimization_graph)
        label, whole = notes[owner].label, graph.post_optimization_graph
        self.sizes = Sizes(recording, label, whole, call.arguments, self.origins)
        self.hops = PlacedHops(self.nodes, call.arguments, self.made_by_optimizer, self._tensor, call.scope)
        self.called = call.scope
        self.awaited = AwaitedResults(self.nodes)

    # -- nodes -------------------------------------------------------------------------------------

    def _collect(self) -> None:
        for partition in self.graph.partition_graphs:
            for node in partition.node:
                if node.op in SENDS:
                    self.sends[pair_of(node)] = node
                elif node.op not in RECVS and not internal(node):
                    number = len(self.nodes) + 1
                    note = within(self.process, self._note(node))
                    self.nodes[node.name] = Node(number, node, short_device(node.device), note)

    def _note(self, node: Any) -> OpNote:
        note = self.origins.note(node)
        if note.requested or not note.loc or node.op in ARGUMENTS + RESULTS:
            return note
        called = self.origins.called(node.name, self.called)
        return note._replace(called_on=called.device, scope=called.scope)

    # -- writing -----------------------------------------------------------------------------------

    def write(self, location: int, number: Optional[int]) -> PlacedGraph:
        self._collect()
        recording, note = self.recording, self.notes[self.owner]
        inner = [node.proto for node in self.nodes.values() if node.proto.op in _FUNCTIONAL]
        partial = f"the inside of {len(inner)} of its ops is not placed apart" if inner else None
        number = recording.graph(
            name=note.label,
            function=self.owner,
            loc=location,
            step_marks=note.steps,
            partial=partial,
            number=number,
        )
        for proto in inner:
            callee = self.notes.get(proto.attr["f"].func.name)
            what = f"ops inside {callee.label if callee else proto.op}, called in {note.label}"
            if callee is not None and callee.compiled:
                why = f"{BY_XLA}; counted once a trace"
                inside, device = callee.ops.values(), self.nodes[proto.name].device
                compiled_inside(recording, callee.label, device, inside, callee.made, location)
            else:
                why = "the runtime runs it as one op, wherever its parts ran; counted once a trace"
            recording.unseen(what, why, len(callee.ops) if callee else 1)
        clusters = Counter(node.device for node in self.nodes.values() if node.proto.op in CLUSTERS)
        for device, found in clusters.items():
            cluster(recording, note.label, device, note.made or location, found)
        self._locate_the_rest(location)
        for name, node in self.nodes.items():
            op, requested = op_type(node), node.note.requested
            lines = node.note.loc, node.note.forward_loc
            recording.node(NodeRecord(number, node.number, name, op, requested, node.device, *lines))
        observe, exact = self._edges(number)
        self._collectives(number, location)
        names = {name: (node.number, node.device) for name, node in self.nodes.items()}
        awaited = self.awaited.by_index()
        return PlacedGraph(number, None, observe, exact, names, self.sent_arguments, awaited)

    def _locate_the_rest(self, called: int) -> None:
        """Ops that no line made, the optimizer's and control flow's, get the line they serve.

        Of a function that was loaded from a file no line is known: its ops get that of the call.
        """
        post = self.graph.post_optimization_graph
        known = {name: node.note for name, node in self.nodes.items() if node.note.loc}
        for name, node in self.nodes.items():
            if node.note.loc or node.proto.op in ARGUMENTS + RESULTS:
                continue
            near = self.origins.statement(node.proto)
            if near is None:
                near = self.origins.nearest(name, known, post)
                self.made_by_optimizer.add(name)
            line = near.loc or (0 if known else called)
            place = node.note._replace(loc=line, forward_loc=near.forward_loc)
            self.nodes[name] = node._replace(note=place)

    def _edges(self, number: int) -> tuple[dict[tuple[str, str, str], Watched], bool]:
        observe: dict[tuple[str, str, str], Watched] = {}
        exact = False
        for partition in self.graph.partition_graphs:
            received = {node.name: node for node in partition.node if node.op in RECVS}
            taken: dict[str, list[tuple[Node, int]]] = {}
            for node in partition.node:
                consumer = self.nodes.get(node.name)
                if consumer is None:
                    continue
                for slot, text in enumerate(i for i in node.input if not i.startswith("^")):
                    name, output = split_input(text)
                    if name in received:
                        taken.setdefault(name, []).append((consumer, slot))
                    elif name in self.nodes:
                        self._edge(number, self.nodes[name], output, consumer, slot)
                        self.awaited.edge(name, node.name)
            for name, receivers in taken.items():
                pair = pair_of(received[name])
                send = self.sends.get(pair)
                if send is None or _is_control(send):
                    continue
                producer_name, output = split_input(send.input[0])
                producer = self.nodes.get(producer_name)
                if producer is None or producer.proto.op == "LoopCond" or _predicate(receivers):
                    continue
                for consumer, slot in receivers:
                    self._edge(number, producer, output, consumer, slot)
                key, where, in_body = self._hop(number, send, received[name], producer, output, receivers)
                if where is not None and key is not None:
                    apart = where == "branch" or self.flow.depth(producer_name) > 1
                    witness = _witness(producer, receivers) if apart else ""
                    observe[pair] = Watched(key, send.name, in_body, witness.encode())
                    exact = exact or apart
        return observe, exact

    def _edge(self, number: int, producer: Node, output: int, consumer: Node, slot: int) -> None:
        size, dtype, shape = self._tensor(producer, output)
        ends = producer.number, output, consumer.number, slot
        self.recording.edge(Edge(number, *ends, size, dtype, shape))

    def _tensor(self, producer: Node, output: int) -> tuple[Optional[int], str, str]:
        return self.sizes.of(producer.proto.name, output)

    def _hop(
        self,
        number: int,
        send: Any,
        recv: Any,
        producer: Node,
        output: int,
        receivers: list[tuple[Node, int]],
    ) -> tuple[Optional[int], Optional[str], bool]:
        where, in_body = self.flow.where(producer.proto.name)
        fields = self.hops.fields(number, send, recv, producer, output, receivers, where)
        if fields is None:
            return None, None, False
        for consumer, _ in receivers:
            self.awaited.hop(consumer.proto.name, fields)
        # What is observed writes its own events.
        key = self.recording.key(("hop", number, *pair_of(send)), "hop", fields, counted=where is None)
        if fields["kind"] == "arg" and where is None and self.arguments is not None:
            same = AgainFields(
                graph=fields["graph"], tensor=fields["tensor"], src=fields["src"], dst=fields["dst"]
            )
            again = self.recording.key(("again", key), "again", same, counted=False)
            index, given = producer.proto.attr["index"].i, len(self.arguments) - self._captures
            given = given if index < given else 0
            self.sent_arguments.append(SentArgument(index, again, given, same))
        return key, where, in_body

    @property
    def _captures(self) -> int:
        captures: int = self.notes[self.owner].captures
        return captures

    def _collectives(self, number: int, location: int) -> None:
        """Collective ops never show as sends; reductions made of ordinary ops were noted while tracing."""
        # As they were before the cut: then each names what it takes, not what was received.
        whole = {node.name: node for node in self.graph.post_optimization_graph.node}
        members = (
            (whole.get(name, node.proto), node.device, node.note.loc) for name, node in self.nodes.items()
        )
        write_collectives(self.recording, number, location, members, whole, self.arguments, self._moved)
        reductions: list[CollectiveFields] = self.notes[self.owner].collectives
        for position, reduction in enumerate(reductions):
            devices = [on_process(self.process, device) for device in reduction["devices"]]
            fields: CollectiveFields = {**reduction, "devices": devices, "graph": number, "per_call": 1}
            self.recording.key(("collective", number, position), "collective", fields)

    def _moved(self, node: Any) -> Optional[int]:
        return self.sizes.of(*moved_tensor(node))[0]


def _witness(producer: Node, receivers: list[tuple[Node, int]]) -> str:
    """The name of an op that runs as often as a tensor is sent alive, and leaves an event each time.

    Who makes it, but for what runs whether its output is alive or not, what is made once for all turns of a
    loop, and what the executor hands on without running it.
    """
    if producer.proto.op not in _NO_WITNESS:
        return str(producer.proto.name)
    takers = [taker.proto.name for taker, _ in receivers if taker.proto.op not in ("Merge", "RefMerge")]
    return str((takers or [producer.proto.name])[0])


def _predicate(receivers: list[tuple[Node, int]]) -> bool:
    """It only decides a branch on the other device."""
    return all(node.proto.op == "Switch" and slot == 1 for node, slot in receivers)


def _is_control(send: Any) -> bool:
    return send.input[0].startswith("^") or "/ctrl/" in send.input[0]
