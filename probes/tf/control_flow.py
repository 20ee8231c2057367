"""Which ops of a placed graph run inside loops and branches, so that their executions must be observed.

TensorFlow lowers tf.while and tf.cond into dataflow: ``Enter`` opens a frame, ``Switch`` and ``Merge``
route live tensors, the rest of the untaken side runs dead.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional


class _State(NamedTuple):
    frames: tuple[str, ...]
    body: bool
    branches: int


_TOP = _State((), False, 0)


class ControlFlow:
    """The frames and branches of every node of a post-optimization graph."""

    def __init__(self, graph: Any) -> None:
        """`graph` is a GraphDef, not partitioned."""
        self._nodes = {node.name: node for node in graph.node}
        self._states: dict[str, _State] = {}
        self._active = any(node.op in ("Enter", "Switch", "RefSwitch", "_SwitchN") for node in graph.node)
        if self._active:
            self._walk()

    def where(self, name: str) -> tuple[Optional[str], bool]:
        """('loop' or 'branch' or None, whether it is the loop's body); a branch in a loop is 'branch'."""
        state = self._states.get(name, _TOP)
        if state.branches:
            return "branch", state.body
        return ("loop" if state.frames else None), state.body

    def depth(self, name: str) -> int:
        """How many loops a node is inside of."""
        return len(self._states.get(name, _TOP).frames)

    def _walk(self) -> None:
        for name in _in_order(self._nodes):
            node = self._nodes[name]
            incoming = [self._seen_through(text) for text in node.input]
            known = [state for state in incoming if state is not None]
            self._states[name] = self._enter(node, known)

    def _seen_through(self, text: str) -> Optional[_State]:
        """The state that a value brings along its edge."""
        control = text.startswith("^")
        name, _, slot = text.lstrip("^").partition(":")
        state = self._states.get(name)
        if state is None:
            return None
        producer = self._nodes[name]
        if producer.op in ("Switch", "RefSwitch", "_SwitchN") and not control:
            if self._of_loop(producer):
                return state._replace(body=state.body or slot == "1")
            return state._replace(branches=state.branches + 1)
        return state

    def _of_loop(self, switch: Any) -> bool:
        predicate = self._nodes.get(switch.input[1].lstrip("^").split(":")[0])
        return predicate is not None and predicate.op == "LoopCond"

    def _enter(self, node: Any, known: list[_State]) -> _State:
        state = max(known, key=lambda s: (len(s.frames), s.branches, s.body), default=_TOP)
        body = any(s.body for s in known if s.frames == state.frames)
        branches = max((s.branches for s in known), default=0)
        state = _State(state.frames, body, branches)
        if node.op in ("Enter", "RefEnter"):
            return _State((*state.frames, node.attr["frame_name"].s.decode()), False, branches)
        if node.op in ("Exit", "RefExit"):
            return _State(state.frames[:-1], bool(state.frames[1:]), branches)
        if node.op in ("Merge", "RefMerge") and not self._is_loop_header(node):
            return state._replace(branches=max(0, branches - 1))
        return state

    def _is_loop_header(self, merge: Any) -> bool:
        return any(
            self._nodes[i.lstrip("^").split(":")[0]].op == "NextIteration"
            for i in merge.input
            if i.lstrip("^").split(":")[0] in self._nodes
        )


def _in_order(nodes: dict[str, Any]) -> list[str]:
    """Producers before consumers; a loop's back edges are left out."""
    waiting: dict[str, int] = {}
    consumers: dict[str, list[str]] = {}
    for name, node in nodes.items():
        sources: set[str] = {i.lstrip("^").split(":")[0] for i in node.input}
        sources = {s for s in sources if s in nodes and nodes[s].op != "NextIteration"}
        waiting[name] = len(sources)
        for source in sources:
            consumers.setdefault(source, []).append(name)
    ready = [name for name, count in waiting.items() if count == 0]
    order: list[str] = []
    while ready:
        name = ready.pop()
        order.append(name)
        for consumer in consumers.get(name, []):
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                ready.append(consumer)
    return order
