"""Which op of the user's code a node of a placed graph comes from, and so which line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Optional

from .scopes import NO_SCOPE, Scope

PLUMBING = ("Enter", "Exit", "NextIteration", "Merge", "Switch", "LoopCond", "Identity")
_REWRITES = ("ArithmeticOptimizer/", "ConstantFolding/", "LayoutOptimizer/", "Func/")
CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_FAR = 200
"""Nodes looked at in search of one with a line."""


class OpNote(NamedTuple):
    """What tracing knew of an op."""

    type: str
    requested: str
    loc: int
    forward_loc: int
    forward_requested: str
    scope: Scope = NO_SCOPE
    """Who opened the device scope it was made in."""
    result: bool = False
    """It is the Identity by which a traced function returns what it made: TensorFlow's, not the code's."""
    forward_op: str = ""
    """Of a backward op: ``MatMul (dense/MatMul)``, the forward op's type and name."""
    called_on: str = ""
    """The device of the scope around its function's call, where that decides: it asks for none itself."""


class Calling(NamedTuple):
    """The device scope that a function was called in: what asks for no device in it goes there."""

    device: str = ""
    """'' where none was open, or that is not known."""
    scope: Scope = NO_SCOPE
    by_session: bool = False
    """A session of TensorFlow 1 runs the graph."""


NOT_KNOWN = Calling()
NO_NOTE = OpNote("", "", 0, 0, "")


def within(process: str, note: OpNote) -> OpNote:
    """What was noted, for a process that runs the function: a device asked for without a job is its own."""
    if not process:
        return note
    names = note.requested, note.forward_requested, note.called_on
    requested, forward, called = (on_process(process, name) for name in names)
    return note._replace(requested=requested, forward_requested=forward, called_on=called)


def on_process(process: str, device: str) -> str:
    """A device as the traced code names it, on the process that runs it: '', or ``worker:1/``."""
    return process + device if device and "/" not in device else device


class Origins:
    """Looks nodes up in what was noted when the function and those it calls were traced."""

    def __init__(self, owner: str, notes: Mapping[str, Any]) -> None:
        """`notes`: runtime name -> FunctionNote; `owner`: the function whose graph this is."""
        self._notes = notes
        self._owner = notes[owner]
        self._own: Mapping[str, OpNote] = notes[owner].ops
        self._callees = [notes[name] for name in notes[owner].callees if name in notes]
        self._called: list[Mapping[str, OpNote]] = [note.ops for note in self._callees]
        self._consumers: Optional[dict[str, list[str]]] = None
        self._producers: dict[str, list[str]] = {}

    def note(self, node: Any) -> OpNote:
        """The op that the code made: as the runtime says, by its own name, or in a called function."""
        function, name = self._traced(node)
        found: OpNote = function.ops.get(name) or self._own.get(_unprefixed(node.name)) or NO_NOTE
        return found

    def shape(self, node: Any, output: int) -> Optional[list[Optional[int]]]:
        """What tracing knew of the shape of what a node gives; None where that is nothing."""
        function, name = self._traced(node)
        graph = function.graph() if function.graph is not None and name in function.ops else None
        try:
            shape = graph.get_operation_by_name(name).outputs[output].shape if graph is not None else None
        except (KeyError, ValueError, IndexError):
            return None  # TensorFlow has taken the graph apart, or rewritten the op
        if shape is None or shape.rank is None:
            return None
        extents: list[Optional[int]] = shape.as_list()
        return extents

    def _traced(self, node: Any) -> tuple[Any, str]:
        """The note of the function that a node's op was traced in, and the op's name there.

        Inlined functions' ops carry the call's name before their own.
        """
        info = node.experimental_debug_info
        for name, function in zip(info.original_node_names, info.original_func_names):
            known = self._notes.get(function)
            if known is not None and name in known.ops:
                return known, name
        if node.name in self._own or _unprefixed(node.name) in self._own:
            return self._owner, node.name
        parts = node.name.split("/")
        for cut in range(1, len(parts)):
            tail = "/".join(parts[cut:])
            for callee in self._callees:
                if tail in callee.ops and callee.ops[tail].loc:
                    return callee, tail
        return self._owner, node.name

    def called(self, name: str, calling: Calling) -> Calling:
        """The device scope around the call that an inlined op belongs to; `calling` is the whole graph's."""
        tables, parts, start = [self._own], name.split("/"), 0
        for cut in range(1, len(parts)):
            found = [ops[call] for ops in tables if (call := "/".join(parts[start:cut])) in ops]
            call_op = next((note for note in found if note.type in CALLS), None)
            if call_op is not None:
                tables, start = self._called, cut
                if call_op.requested:
                    calling = Calling(call_op.requested, call_op.scope)
        return calling

    def statement(self, node: Any) -> Optional[OpNote]:
        """A lowered loop's or branch's plumbing is named after it: ``while/next_iteration/_32``."""
        if node.op not in PLUMBING:
            return None
        parts = node.name.split("/")
        for cut in range(len(parts) - 1, 0, -1):
            note = self._own.get("/".join(parts[:cut]))
            if note is not None and note.loc:
                return note
        return None

    def nearest(self, name: str, known: Mapping[str, OpNote], graph: Any) -> OpNote:
        """An op that optimization made has no line: its nearest consumer's, else producer's, is the cause."""
        if self._consumers is None:
            self._consumers = {}
            for node in graph.node:
                data = [split_input(text)[0] for text in node.input if not text.startswith("^")]
                self._producers[node.name] = data
                for producer in data:
                    self._consumers.setdefault(producer, []).append(node.name)
        for neighbours in (self._consumers, self._producers):
            found = _search(name, known, neighbours)
            if found is not None:
                return found
        return NO_NOTE


def _search(
    name: str, known: Mapping[str, OpNote], neighbours: Mapping[str, Iterable[str]]
) -> Optional[OpNote]:
    queue, seen = [name], {name}
    while queue and len(seen) < _FAR:
        current = queue.pop(0)
        if current in known:
            return known[current]
        for other in neighbours.get(current, ()):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return None


def split_input(text: str) -> tuple[str, int]:
    """``name:slot`` of a node's input; the slot is 0 where none is written."""
    name, _, slot = text.partition(":")
    return name, int(slot or 0)


def _unprefixed(name: str) -> str:
    """Grappler's rewrites keep the op's name behind their own."""
    for prefix in _REWRITES:
        if name.startswith(prefix):
            return name.split("/", 1)[1]
    return name
