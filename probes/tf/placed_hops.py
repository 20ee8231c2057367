"""What one transfer of a placed graph is told with: its ends, its lines and the evidence for its cause."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from typing import Any, Callable, NamedTuple, Optional

from ..trace.hop import is_host, memory_of
from ..trace.schema import HopFacts, HopFields
from .kernels import Role, kernel_facts, types_of_node
from .marks import KEPT_ON_HOST, noted, of_calls, openers
from .names import dtype_name, short_device
from .origins import PLUMBING, Calling, OpNote, split_input
from .placed_nodes import ARGUMENTS, RESULTS, Node, op_type
from .scopes import NO_SCOPE, Scope
from .variables import kept_by, note_creation

_DEEP = 100
"""Switches and such that a handle passes on its way into branches and loops, at most."""
_INSIDE = re.compile(r"(?:^|/)(?:then|else|body|cond|branch\d+)/_\d+/")
"""In the name of an op that was lowered with the branch or loop that it stands in."""
_STORED = ("Const", "ReadVariableOp", "ResourceGather", "VarHandleOp")
"""Ops that give what is there already, wherever that is."""
_RESOURCE = 20
"""DataType of resource handles."""
Tensor = tuple[Optional[int], str, str]
"""(bytes of one, None where not known; dtype's name; shape)."""


class _Origin(NamedTuple):
    """What made a tensor that crosses."""

    kind: str
    """arg for an argument of the graph, else copy."""
    loc: int
    op: str
    requested: str
    opener: str
    """Of an argument: the library's function that opened the scope it was made in."""
    handed_on: bool
    """The producer only handed it on, from a function's op."""
    facts: HopFacts


class PlacedHops:
    """The facts of a placed graph's transfers."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        arguments: Optional[Any],
        made_by_optimizer: Collection[str],
        tensor: Callable[[Node, int], Tensor],
        called: Calling,
    ) -> None:
        """`nodes` are all of the graph's by name, `arguments` the call's eager tensors where known.

        `made_by_optimizer` names nodes without a line of their own; `tensor` tells of a node's output;
        `called` is how the graph's function was called.
        """
        self.nodes = nodes
        self.arguments = arguments
        self.made_by_optimizer = made_by_optimizer
        self._tensor = tensor
        self._called = called

    def fields(
        self,
        number: int,
        send: Any,
        recv: Any,
        producer: Node,
        output: int,
        receivers: list[tuple[Node, int]],
        where: Optional[str],
    ) -> Optional[HopFields]:
        """The fields of a transfer's key, None where only a handle crosses.

        `where` is "loop" or "branch" where it happens in one.
        """
        size, dtype, shape = self._tensor(producer, output)
        dtype = dtype or dtype_name(send.attr["T"].type)
        if dtype in ("resource", "variant") and size is None and dtype == "resource":
            return None
        if self._told_apart(producer, receivers):
            return None
        consumer = first_taker([taker for taker, _ in receivers])
        note, source = consumer.note, producer.note
        src, dst = (
            short_device(send.attr["send_device"].s.decode()),
            short_device(recv.attr["recv_device"].s.decode()),
        )
        origin = self._origin(producer)
        facts: HopFacts = {**self._gradient_facts(consumer, producer), **origin.facts}
        facts |= self._resource_facts(consumer, producer)
        facts |= _result_facts(consumer, producer, origin)
        scope = self._scope(consumer, note.requested)
        producer_scope = (
            Scope(0, origin.opener) if origin.kind == "arg" else self._scope(producer, origin.requested)
        )
        facts |= _scope_facts(scope, producer_scope)
        if note.called_on:
            facts["called_on"] = note.called_on
        if source.called_on and origin.kind != "arg":
            facts["producer_called_on"] = source.called_on
        if all(op_type(taker) == op_type(consumer) for taker, _ in receivers):
            facts["input_slots"] = sorted({slot for _, slot in receivers})
        if origin.kind == "arg":
            facts |= self._kept_on_host(producer.proto, dtype)
        facts |= self._kernel_facts("", consumer)
        facts |= self._kernel_facts("producer_", producer)
        fields: HopFields = {
            "src": src,
            "dst": dst,
            "src_memory": memory_of(src, send.op == "_HostSend"),
            "dst_memory": memory_of(dst, recv.op == "_HostRecv"),
            "tensor": f"{producer.proto.name}:{output}",
            "op": op_type(consumer),
            "producer": producer.proto.name,
            "producer_op": origin.op,
            "consumers": [c.proto.name for c, _ in receivers],
            "bytes": size,
            "dtype": dtype,
            "shape": shape,
            "loc": note.loc or source.loc,
            "producer_loc": origin.loc,
            "forward_loc": note.forward_loc or source.forward_loc,
            "kind": origin.kind,
            "basis": "estimated" if size is not None else "unknown",
            "graph": number,
            "per_call": 1 if where is None else None,
            "in": where,
            "requested": note.requested,
            "assigned": consumer.device,
            "producer_requested": origin.requested,
            "scope_loc": scope.line,
            "producer_scope_loc": producer_scope.line,
            "facts": facts,
        }
        if "variable" in facts:
            note_creation(fields, self._handle_mark(producer.proto))
        return fields

    def _origin(self, producer: Node) -> _Origin:
        """Where a tensor comes from: what made it, behind what only handed it on."""
        loc, op, requested = producer.note.loc, producer.proto.op, producer.note.requested
        kind, opener, facts = "copy", "", HopFacts()
        if op in ARGUMENTS:
            kind = "arg"
            mark = self._argument_mark(producer.proto)
            if mark is not None:
                op, loc, _, requested, _ = mark
                opener = openers.get(mark, "")
        behind = self._behind(producer)
        if behind is not None:
            facts["through"] = producer.proto.name
            loc, requested = behind.loc, behind.requested
        maker = self._handed_on(producer) if behind is None and producer.note.result else None
        if maker is not None:
            loc, op = maker.note.loc, op_type(maker)
            facts["through"] = producer.proto.name
            facts |= _of_gradient("producer_", maker.note)
        return _Origin(kind, loc, op, requested, opener, maker is not None, facts)

    def _gradient_facts(self, consumer: Node, producer: Node) -> HopFacts:
        note, source = consumer.note, producer.note
        facts: HopFacts = {**_of_gradient("", note), **_of_gradient("producer_", source)}
        line = note.loc if note.forward_loc else source.loc if source.forward_loc else 0
        if len(several := self._gradients_of.get(line, ())) > 1:
            facts["gradients_of"] = sorted(several)
        if consumer.proto.name in self.made_by_optimizer:
            facts["rewritten"] = True
        if producer.proto.name in self.made_by_optimizer:
            facts["producer_rewritten"] = True
        return facts

    def _resource_facts(self, consumer: Node, producer: Node) -> HopFacts:
        facts = HopFacts()
        variable = self._variable(producer.proto)
        if variable:
            facts["variable"] = variable
            if strategy := kept_by(variable):
                facts["kept_by"] = strategy
        beside = self._resource_beside(consumer)
        if beside:
            facts["colocated_with"] = beside
        if producer.note.requested and (works_on := self._resource_beside(producer)):
            facts["producer_works_on"] = works_on
        return facts

    def _kernel_facts(self, role: Role, node: Node) -> HopFacts:
        types = types_of_node(node.proto)
        return kernel_facts(role, op_type(node), node.note.requested, node.device, types, self._default_gpu)

    def _scope(self, node: Node, requested: str) -> Scope:
        """Who opened the scope that decided for an op's device: its own, else that of the function's call."""
        decided = requested or (node.note.called_on == node.device and node.device)
        return node.note.scope if decided else NO_SCOPE

    def _kept_on_host(self, argument: Any, dtype: str) -> HopFacts:
        """Where an argument lay that the runtime takes over in host memory, and if a function returned it.

        So it is with all of these types (MTypeFromDType in memory_types.cc), wherever the op runs that
        takes them; results of functions are handed out so too.
        """
        index = argument.attr["index"].i
        if dtype not in KEPT_ON_HOST or self.arguments is None or index >= len(self.arguments):
            return {}
        tensor = self.arguments[index]
        if noted(tensor, "_hopscope") in of_calls:
            return {"result_of_function": True}
        lay = short_device(getattr(tensor, "backing_device", ""))
        return {"argument_lay_on": lay} if lay and not is_host(lay) else {}

    def _behind(self, producer: Node) -> Optional[OpNote]:
        """What really made a value that loop or branch plumbing only hands on, if one device's ops did."""
        if producer.proto.op not in PLUMBING or producer.note.requested:
            return None
        found: dict[str, OpNote] = {}
        queue, seen = [producer], {producer.proto.name}
        while queue:
            for text in queue.pop().proto.input:
                node = self.nodes.get(split_input(text)[0])
                if node is None or text.startswith("^") or node.proto.name in seen:
                    continue
                seen.add(node.proto.name)
                if node.proto.op in PLUMBING and not node.note.requested:
                    queue.append(node)
                else:
                    found[node.note.requested] = node.note
        return next(iter(found.values())) if list(found) == [producer.device] else None

    def _handed_on(self, result: Node) -> Optional[Node]:
        """The op, on the same device and asked for on none, whose value a function's result hands on."""
        node: Optional[Node] = result
        while node is not None and node.note.result and node.device == result.device:
            if node.note.requested or not node.proto.input:
                return None
            node = self.nodes.get(split_input(node.proto.input[0])[0])
        if node is None or node.device != result.device or not node.note.loc or node.note.requested:
            return None
        unlike = {*ARGUMENTS, *RESULTS, *PLUMBING, *_STORED}
        return None if op_type(node) in unlike or node.proto.name in self.made_by_optimizer else node

    @functools.cached_property
    def _gradients_of(self) -> dict[int, set[str]]:
        """Location of backward ops -> the devices that the code asked for, for their forward ops."""
        found: dict[int, set[str]] = {}
        for node in self.nodes.values():
            if node.note.forward_loc and node.note.forward_requested:
                found.setdefault(node.note.loc, set()).add(node.note.forward_requested)
        return found

    @functools.cached_property
    def _default_gpu(self) -> str:
        """The GPU that this graph's ops went to for which nobody asked for a device; '' where to the host."""
        unasked = (node.device for node in self.nodes.values() if not node.note.requested and node.note.loc)
        return next((device for device in unasked if device == "gpu:0"), "")

    def _told_apart(self, producer: Node, receivers: list[tuple[Node, int]]) -> bool:
        """What a run of a session is fed or gives back is told as that, at the line of the run."""
        if not self._called.by_session:
            return False
        given_back = all(taker.proto.op in RESULTS for taker, _ in receivers)
        return given_back or producer.proto.op in ARGUMENTS

    def _argument_mark(self, argument: Any) -> Any:
        index = argument.attr["index"].i
        if self.arguments is None or index >= len(self.arguments):
            return None
        return noted(self.arguments[index], "_hopscope")

    def _variable(self, node: Any) -> str:
        if node.op not in ("ReadVariableOp", "ResourceGather") or not node.input:
            return ""
        handle = self._handle(node)
        if handle is None:
            return str(node.name)
        mark = self._handle_mark(node)
        return str((mark[2] if mark else "") or handle.proto.name)

    def _handle_mark(self, read: Any) -> Any:
        """What is known of the handle that is read, which the call was given; None where nothing is."""
        handle = self._handle(read)
        if handle is None or handle.proto.op not in ARGUMENTS:
            return None
        return self._argument_mark(handle.proto)

    def _handle(self, read: Any) -> Optional[Node]:
        """The op that the handle comes from which is read, through branches and loops."""
        handle = self.nodes.get(split_input(read.input[0])[0])
        passed = 0
        if handle is None:
            return None
        while handle.proto.op in PLUMBING and handle.proto.input and passed < _DEEP:
            behind = self.nodes.get(split_input(handle.proto.input[0])[0])
            if behind is None:
                break
            handle, passed = behind, passed + 1
        return handle

    def _resource_beside(self, consumer: Node) -> str:
        """The variable or other resource on its device that an op works on: that decides where it runs."""
        for text in consumer.proto.input:
            handle = self.nodes.get(split_input(text)[0])
            if handle is None or handle.device != consumer.device:
                continue
            if handle.proto.op == "VarHandleOp":
                return str(handle.proto.name)
            if handle.proto.op in ARGUMENTS and handle.proto.attr["T"].type == _RESOURCE:
                mark = self._argument_mark(handle.proto)
                return str((mark[2] if mark else "") or handle.proto.name)
        return ""


def _result_facts(consumer: Node, producer: Node, origin: _Origin) -> HopFacts:
    note, source, facts = consumer.note, producer.note, HopFacts()
    if note.loc == 0 and consumer.proto.op in RESULTS:
        facts["returned"] = True
    if note.result:
        facts["result"] = _handed_out(consumer)
    merged = producer.proto.op == "Merge" and not origin.requested
    if (source.result and not origin.handed_on) or merged:
        facts["producer_result"] = _handed_out(producer)
    return facts


def _scope_facts(scope: Scope, producer_scope: Scope) -> HopFacts:
    facts = HopFacts()
    if scope.opener:
        facts["scope_opener"] = scope.opener
    if producer_scope.opener:
        facts["producer_scope_opener"] = producer_scope.opener
    return facts


def _handed_out(node: Node) -> Any:
    """What an op hands the result of out of: a branch or loop, else a function, told as True."""
    inside = node.proto.op == "Merge" or _INSIDE.search(str(node.proto.name))
    return "a branch or loop" if inside else True


def first_taker(takers: list[Node]) -> Node:
    """Whose line a transfer is told at: a forward op's if there is one, gradients find the tensor there."""
    placed = [taker for taker in takers if taker.note.loc]
    return next((taker for taker in placed if not taker.note.forward_loc), (placed or takers)[0])


def _of_gradient(role: Role, note: OpNote) -> HopFacts:
    if not note.forward_loc:
        return {}
    if role:
        facts: HopFacts = {"producer_forward_requested": note.forward_requested}
        if note.forward_op:
            facts["producer_forward_op"] = note.forward_op
    else:
        facts = {"forward_requested": note.forward_requested}
        if note.forward_op:
            facts["forward_op"] = note.forward_op
    return facts
