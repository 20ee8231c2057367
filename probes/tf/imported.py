"""Brings a graph into TensorFlow, which then knows its tensors' shapes, whatever an op's shape function says.

A placed graph holds less than the traced one: what a handle leads to, or what the code said of a shape.
Shape functions of some ops refuse what is left (`ResourceScatterNdUpdate` of a handle to something unknown
does), and then the whole import fails. So a graph that is refused comes in by halves, and by halves of these,
until each op that is refused stands alone; another takes its place, which gives tensors of the same types and
of no known shapes.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Optional

from ..trace.frames import stands_for

Tensors = dict[tuple[str, int], Any]
"""By the names of nodes and their output slots."""
_numbers = itertools.count(1 << 48)
_importing: set[int] = set()
"""Threads that bring in a graph now."""


def import_graph(definition: Any) -> Tensors:
    """The tensors of a GraphDef without control edges and cycles."""
    with _numbers_of_its_own():
        return _imported(definition)


def _imported(definition: Any) -> Tensors:
    import tensorflow as tf

    graph = tf.Graph()
    try:
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
    except Exception:  # noqa: BLE001 - whichever op it is that TensorFlow refuses, the others are looked at
        return _Parts(definition).tensors
    return {
        (op.name, slot): tensor for op in graph.get_operations() for slot, tensor in enumerate(op.outputs)
    }


@contextlib.contextmanager
def _numbers_of_its_own() -> Iterator[None]:
    """TensorFlow numbers all that it makes, and a function's name has its number: those are the program's."""
    _number_apart()
    here = threading.get_ident()
    _importing.add(here)
    try:
        yield
    finally:
        _importing.discard(here)


@functools.lru_cache(maxsize=1)
def _number_apart() -> None:
    from tensorflow.python.framework import ops

    module: Any = ops
    number = module.uid

    @stands_for(number)
    def uid() -> int:
        return next(_numbers) if threading.get_ident() in _importing else int(number())

    module.uid = uid


class _Parts:
    """A graph that is imported part by part, producers first."""

    def __init__(self, definition: Any) -> None:
        import tensorflow as tf

        self.tensors: Tensors = {}
        self._definition = definition
        self._functions = {one.signature.name: one.signature for one in definition.library.function}
        self._graph = tf.Graph()
        with contextlib.suppress(Exception):  # then the ops that call them are refused
            self._import([], definition.library)
        self._halve(_producers_first(definition.node))

    def _halve(self, nodes: Sequence[Any]) -> None:
        """Import what can be of these nodes; the rest is replaced."""
        try:
            self._import(nodes)
            return
        except Exception:  # noqa: BLE001 - one of them is refused, or takes what could not even be replaced
            pass
        if len(nodes) > 1:
            middle = len(nodes) // 2
            self._halve(nodes[:middle])
            self._halve(nodes[middle:])
        elif nodes:
            self._replace(nodes[0])

    def _replace(self, node: Any) -> None:
        types = self._output_types(node)
        if not types:
            return
        # An op that takes nothing, and gives whatever it is to give.
        stand_in = type(node)(name=node.name, op="Unstage")
        stand_in.attr["dtypes"].list.type.extend(types)
        with contextlib.suppress(Exception):  # then what takes from it is replaced too
            self._import([stand_in])

    def _import(self, nodes: Sequence[Any], library: Optional[Any] = None) -> None:
        import tensorflow as tf

        part = type(self._definition)(node=nodes, library=library, versions=self._definition.versions)
        inside = {node.name for node in nodes}
        taken = [_taken(text) for node in nodes for text in node.input]
        before = {f"{name}:{slot}": self.tensors[name, slot] for name, slot in taken if name not in inside}
        with self._graph.as_default():
            tf.graph_util.import_graph_def(part, input_map=before, name="")
        for name in inside:
            for slot, tensor in enumerate(self._graph.get_operation_by_name(name).outputs):
                self.tensors[name, slot] = tensor

    def _output_types(self, node: Any) -> list[int]:
        """DataTypes of what a node gives; none where nobody knows its op."""
        from tensorflow.python.framework import op_def_registry

        signature = self._functions.get(node.op) or op_def_registry.get(node.op)
        defaults = {one.name: one.default_value for one in signature.attr} if signature is not None else {}
        types: list[int] = []
        for output in signature.output_arg if signature is not None else ():

            def value(name: str) -> Any:
                return node.attr[name] if name in node.attr else defaults[name]

            if output.type_list_attr:
                types += value(output.type_list_attr).list.type
                continue
            one = value(output.type_attr).type if output.type_attr else output.type
            types += [one] * (value(output.number_attr).i if output.number_attr else 1)
        return types


def _taken(text: str) -> tuple[str, int]:
    name, _, slot = text.partition(":")
    return name, int(slot or 0)


def _producers_first(nodes: Sequence[Any]) -> list[Any]:
    """The nodes, each behind those that it takes from; what stands in a cycle is left out."""
    missing = {node.name: {_taken(text)[0] for text in node.input} for node in nodes}
    takers: dict[str, list[Any]] = {}
    for node in nodes:
        for name in missing[node.name]:
            takers.setdefault(name, []).append(node)
    ready = [node for node in nodes if not missing[node.name]]
    for node in ready:  # which grows meanwhile
        for taker in takers.get(node.name, ()):
            missing[taker.name].discard(node.name)
            if not missing[taker.name]:
                ready.append(taker)
    return ready
