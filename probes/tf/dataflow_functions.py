"""Notes, in a pre-flight, every traced function as it was before it was placed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from ..trace.guard import is_own
from .function_notes import label_of, must_compile
from .kernels import types_of_node
from .names import short_device
from .op_notes import FUNCTION_ATTRIBUTES
from .shapes import infer_shapes


class TracedFunctions:
    """The traced functions of one process: their ops, with what each asked for and takes."""

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        """`lock` is held while `found` changes."""
        self.found: dict[str, dict[str, Any]] = {}
        """By their runtime's names."""
        self._lock = lock

    def traced(self, name: str, graph: Any, attrs: Any) -> None:
        """A graph became a function: its ops as the code made them."""
        places: dict[str, tuple[int, int, str, Any, str]] = getattr(graph, "_hopscope_ops", {})
        operations = graph.get_operations()
        number = {op.name: at for at, op in enumerate(operations)}
        nodes = []
        for op in operations:
            location, forward, forward_requested, *_ = places.get(op.name, (0, 0, "", None, ""))
            nodes.append(
                {
                    "name": op.name,
                    "op": op.type,
                    "requested": "" if _of_this_machine(op.device) else short_device(op.device),
                    "loc": location or None,
                    "forward": [forward or None, short_device(forward_requested)],
                    "types": types_of_node(op.node_def),
                    "inputs": [[number[tensor.op.name], tensor.value_index] for tensor in op.inputs],
                    "outputs": [_about(tensor) for tensor in op.outputs],
                    "calls": _calls(op),
                    "beside": _beside(op),
                }
            )
        with self._lock:
            self.found[name] = {
                "label": label_of(graph),
                "compiled": must_compile(attrs),
                "nodes": nodes,
                "arguments": [number.get(tensor.op.name, -1) for tensor in graph.inputs],
                "results": [[number.get(t.op.name, -1), t.value_index] for t in graph.outputs],
                "shapes": self.found.get(name, {}).get("shapes", {}),
            }

    def placed(self, function_graph: Any, owner: str, arguments: Any) -> None:
        """A function ran for the first time: now the shapes are known that its trace left open."""
        if owner not in self.found:
            return
        try:
            found = infer_shapes(function_graph.post_optimization_graph, arguments)
        except Exception as error:
            if not is_own(error):
                raise
            return
        shapes = self.found[owner]["shapes"]
        for (name, slot), (dims, dtype, _) in found.items():
            if dims is not None and None not in dims:
                shapes[f"{name}:{slot}"] = [dtype, dims]


def _of_this_machine(device: str) -> bool:
    """Whether a device in a graph is where something is here, and not what the code asked for by name.

    A scope that is made from a tensor's device has its whole name; the code's own have not.
    """
    return device.startswith("/job:localhost/") and device.endswith("CPU:0")


def _about(tensor: Any) -> list[Any]:
    shape = tensor.shape
    return [tensor.dtype.base_dtype.name, None if shape.rank is None else shape.as_list()]


def _calls(op: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for attribute in FUNCTION_ATTRIBUTES.get(op.type, ()):
        value = op.get_attr(attribute)
        found[attribute] = [one.name for one in (value if isinstance(value, list) else [value])]
    return found


def _beside(op: Any) -> list[str]:
    own = f"loc:@{op.name}".encode()
    return [group.decode()[5:] for group in _groups(op) if group != own]


def _groups(op: Any) -> Iterable[bytes]:
    try:
        groups: Iterable[bytes] = op.get_attr("_class")
    except ValueError:
        return ()
    return groups
