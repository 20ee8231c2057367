"""Notes, in a pre-flight, what each op takes from which other: enough to tell where they would run elsewhere.

The ordinary recorder notes what crosses between the devices that are here. On a machine with one device
nothing does. This notes every op with its types, the device asked for and its inputs' makers, and every
traced function as it was before it was placed. What would become of it on other devices is worked out
afterwards, from the file that this writes (`app/analysis/preflight`).
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Sequence
from typing import Any, Optional

from ..trace.preflight import KERNELS_VARIABLE
from ..trace.recording import Recording
from .functions import _FUNCTION_ATTRIBUTES, _truth
from .gradients import current as gradient
from .kernel_registry import has_gpu_kernels, source, type_name, write_table
from .kernels import types_of_node
from .names import short_device

VERSION = 1
FOLDER = "dataflow"
KERNELS_NAME = "kernels.json.gz"
PYTHON = -1
"""Stands for the maker of what Python or numpy data became."""
MOST_RECORDS = 20_000
_MOST_USES = 6
_MOST_EDGES = 12
"""Makers that one input of one record is noted with; a loop over layers has many."""
_RESOURCE = 20


class Scopes(threading.local):
    """This thread's device scopes that name no device, but where a tensor is: (its device, its maker)."""

    def __init__(self) -> None:
        self.open: list[tuple[str, int]] = []

    def beside(self, scope: str) -> Optional[int]:
        """The record beside which ops are now, where the innermost scope is such a one."""
        return self.open[-1][1] if self.open and self.open[-1][0] == scope else None


class Dataflow:
    """What one process's ops took from one another."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.records: list[dict[str, Any]] = []
        self.functions: dict[str, dict[str, Any]] = {}
        self.scopes = Scopes()
        self.pulls: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.notes: dict[tuple[str, int], dict[str, Any]] = {}
        self.sites: dict[int, tuple[str, Optional[str]]] = {}
        self._known: dict[Any, int] = {}
        self._edges: dict[Any, list[Any]] = {}
        self._variables: dict[str, int] = {}
        self._attributes: dict[str, tuple[dict[str, str], list[tuple[str, str]]]] = {}
        self._lock = threading.RLock()
        self._handles: list[tuple[Any, int]] = []
        self._left_out = 0
        self._written = -1
        self._first_step_over = False

    # -- what ran --------------------------------------------------------------------------------------------

    def op(self, op_type: str, inputs: Sequence[Any], attrs: Any, outputs: Sequence[Any], scope: str) -> None:
        """An eager op ran; `scope` is the device that was asked for."""
        forward = (gradient.forward_loc, short_device(gradient.forward_requested))
        location = gradient.loc if gradient.forward_loc else self.recording.sites.current(2)
        types = self._types(op_type, attrs, inputs)
        self._ran(op_type, types, inputs, outputs, scope, location, forward, "")

    def call(self, name: str, inputs: Sequence[Any], outputs: Optional[Sequence[Any]], scope: str) -> None:
        """A traced function was called by its runtime's name."""
        location = self.recording.sites.current(2)
        self._ran(name, {}, inputs, outputs or (), scope, location, (0, ""), name)

    def constant(self, tensor: Any, scope: str) -> None:
        """Python or numpy data became a tensor by a call that makes one."""
        types = {"dtype": tensor.dtype.name}
        self._ran("_EagerConst", types, (), (tensor,), scope, self.recording.sites.current(2), (0, ""), "")

    def pulled(self, tensor: Any, kind: str, location: int) -> None:
        """Python took a tensor's value at a location."""
        maker, slot = self._maker(tensor)
        identity = (kind, location, maker, slot, tensor._datatype_enum(), tensor._shape_tuple())
        with self._lock:
            pull = self.pulls.get(identity)
            if pull is None:
                about = {"kind": kind, "loc": self._site(location), "from": [maker, slot]}
                pull = self.pulls[identity] = {**about, "tensor": _about(tensor), "count": 0, "early": 0}
            pull["count"] += 1

    def note(self, what: str, location: int = 0) -> None:
        """Something that makes a prediction uncertain, at a line."""
        with self._lock:
            note = self.notes.setdefault(
                (what, location), {"what": what, "loc": self._site(location), "count": 0}
            )
            note["count"] += 1

    def _ran(
        self,
        op_type: str,
        types: dict[str, Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        scope: str,
        location: int,
        forward: tuple[int, str],
        function: str,
    ) -> None:
        requested = short_device(scope)
        beside = self.scopes.beside(scope)
        makers = [self._maker(tensor) for tensor in inputs]
        resources = tuple(
            maker for (maker, _), tensor in zip(makers, inputs) if tensor._datatype_enum() == _RESOURCE
        )
        identity = (op_type, _frozen(types), requested, beside, location, forward, resources)
        with self._lock:
            number = self._known.get(identity)
            if number is None:
                if len(self.records) >= MOST_RECORDS:
                    self._left_out += 1
                    return
                number = self._known[identity] = len(self.records)
                self.records.append(
                    {
                        "op": op_type,
                        "types": types,
                        "requested": "" if beside is not None else requested,
                        "beside": beside,
                        "loc": self._site(location),
                        "forward": [self._site(forward[0]), forward[1]],
                        "inputs": [],
                        "outputs": [_about(tensor) for tensor in outputs],
                        "count": 0,
                        "early": 0,
                        "function": function,
                    }
                )
            record = self.records[number]
            record["count"] += 1
            for slot, (tensor, maker) in enumerate(zip(inputs, makers)):
                self._edge(record, number, slot, tensor, maker)
        for slot, tensor in enumerate(outputs):
            tensor._hopscope_flow = (number, slot)
        if op_type == "VarHandleOp" and outputs:
            self._named(outputs[0], number)

    def _edge(
        self, record: dict[str, Any], number: int, slot: int, tensor: Any, maker: tuple[int, int]
    ) -> None:
        uses: list[int] = getattr(tensor, "_hopscope_uses", None) or []
        about = _about(tensor)
        if maker[0] == PYTHON and not about[1] and uses:
            return  # TensorFlow keeps the scalars that it converted
        identity = (number, slot, *maker, about[0], str(about[1]), *uses)
        edge = self._edges.get(identity)
        if edge is None:
            if sum(one[0] == slot for one in record["inputs"]) >= _MOST_EDGES:
                self._left_out += 1
                return
            edge = self._edges[identity] = [slot, *maker, about, list(uses), 0, 0]
            record["inputs"].append(edge)
        edge[-2] += 1
        if number not in uses and len(uses) < _MOST_USES:
            tensor._hopscope_uses = [*uses, number]

    def maker_of(self, thing: Any) -> Optional[int]:
        """The record of what made a tensor, or a variable's handle; None where that was not noted."""
        tensor = getattr(thing, "_handle", thing)
        if getattr(tensor, "_hopscope_flow", None) is None:
            return None
        number = self._maker(tensor)[0]
        return None if number == PYTHON else number

    def _maker(self, tensor: Any) -> tuple[int, int]:
        known: Optional[tuple[int, int]] = getattr(tensor, "_hopscope_flow", None)
        if known is not None:
            return known
        mark = getattr(tensor, "_hopscope", None)
        if mark is not None and mark[0] == "ReadVariableOp" and mark[2] in self._variables:
            # Read by TensorFlow's C code itself, which calls nothing that could be hooked.
            handle = self._variables[mark[2]]
            identity = ("read", handle, mark[1])
            if identity not in self._known:
                self._known[identity] = len(self.records)
                edge = [0, handle, 0, ["resource", []], [], 1, 1]
                types = {"dtype": tensor.dtype.name}
                facts: dict[str, Any] = {"op": "ReadVariableOp", "types": types, "loc": self._site(mark[1])}
                facts |= {"requested": "", "beside": None}
                rest = {
                    "forward": [None, ""],
                    "inputs": [edge],
                    "outputs": [_about(tensor)],
                    "count": 0,
                    "early": 0,
                }
                self.records.append({**facts, **rest, "function": ""})
            tensor._hopscope_flow = (self._known[identity], 0)
            self.records[self._known[identity]]["count"] += 1
        else:
            tensor._hopscope_flow = (PYTHON, 0)
        return tensor._hopscope_flow  # type: ignore[no-any-return]

    def _named(self, handle: Any, number: int) -> None:
        """A variable got its name only after its handle was made: it is read when it is written down."""
        self.records[number]["name"] = ""
        self._handles.append((handle, number))

    def name_variables(self) -> None:
        """Take over the names that variables' handles have got by now."""
        for handle, number in self._handles:
            mark = getattr(handle, "_hopscope", None)
            if mark is not None and mark[2]:
                self.records[number]["name"] = mark[2]
                self._variables[mark[2]] = number

    def _types(self, op_type: str, attrs: Any, inputs: Sequence[Any]) -> dict[str, Any]:
        known = self._attributes.get(op_type)
        if known is None:
            known = self._attributes[op_type] = _definition(op_type)
        kinds, arguments = known
        types: dict[str, Any] = {}
        for name, value in zip((attrs or ())[::2], (attrs or ())[1::2]):
            text = name.decode() if isinstance(name, bytes) else str(name)
            kind = kinds.get(text)
            if kind == "type":
                types[text] = type_name(int(value)) or "?"
            elif kind == "list(type)":
                types[text] = [type_name(int(one)) or "?" for one in value]
            elif kind == "int":
                types[text] = str(value)
        for (attribute, dtype), tensor in zip(arguments, inputs):
            if attribute and attribute not in types and not dtype:
                types[attribute] = tensor.dtype.name
        return types

    def first_step_over(self) -> None:
        """What happened up to now was for the start: the counts so far are kept apart."""
        with self._lock:
            if self._first_step_over:
                return
            self._first_step_over = True
            for one in [*self.records, *self.pulls.values()]:
                one["early"] = one["count"]
            for edge in self._edges.values():
                edge[-1] = edge[-2]

    # -- functions -------------------------------------------------------------------------------------------

    def function(self, name: str, graph: Any, attrs: Any) -> None:
        """A graph became a function: its ops as the code made them."""
        places: dict[str, tuple[int, int, str, int]] = getattr(graph, "_hopscope_ops", {})
        operations = graph.get_operations()
        number = {op.name: at for at, op in enumerate(operations)}
        nodes = []
        for op in operations:
            location, forward, forward_requested, _ = places.get(op.name, (0, 0, "", 0))
            nodes.append(
                {
                    "name": op.name,
                    "op": op.type,
                    "requested": "" if _of_this_machine(op.device) else short_device(op.device),
                    "loc": self._site(location),
                    "forward": [self._site(forward), short_device(forward_requested)],
                    "types": types_of_node(op.node_def),
                    "inputs": [[number[tensor.op.name], tensor.value_index] for tensor in op.inputs],
                    "outputs": [_about_symbolic(tensor) for tensor in op.outputs],
                    "calls": _calls(op),
                    "beside": _beside(op),
                }
            )
        compiled = bool(attrs and "_XlaMustCompile" in attrs and _truth(attrs["_XlaMustCompile"]))
        label = graph.name.decode() if isinstance(graph.name, bytes) else str(graph.name)
        with self._lock:
            self.functions[name] = {
                "label": label,
                "compiled": compiled,
                "nodes": nodes,
                "arguments": [number.get(tensor.op.name, -1) for tensor in graph.inputs],
                "results": [[number.get(t.op.name, -1), t.value_index] for t in graph.outputs],
                "shapes": self.functions.get(name, {}).get("shapes", {}),
            }

    def placed(self, function_graph: Any, owner: str, arguments: Any) -> None:
        """A function ran for the first time: now the shapes are known that its trace left open."""
        from .shapes import infer_shapes

        if owner not in self.functions:
            return
        try:
            found = infer_shapes(function_graph.post_optimization_graph, arguments)
        except Exception:  # noqa: BLE001 - then tracing's shapes have to do
            return
        shapes = self.functions[owner]["shapes"]
        for (name, slot), (dims, dtype, _) in found.items():
            if dims is not None and None not in dims:
                shapes[f"{name}:{slot}"] = [dtype, dims]

    # -- the file --------------------------------------------------------------------------------------------

    def _site(self, location: int) -> Optional[int]:
        return location or None

    def write_kernels(self) -> None:
        """Write this build's own kernel table, where it has GPUs' and it is not the one that is at hand."""
        if has_gpu_kernels() and source() not in os.environ.get(KERNELS_VARIABLE, ""):
            folder = os.path.join(os.path.dirname(self.recording.folder), FOLDER)
            os.makedirs(folder, exist_ok=True)
            write_table(os.path.join(folder, KERNELS_NAME))

    def write(self) -> None:
        """Write all that is known, as a whole, to a file of this process."""
        with self._lock:
            size = (
                len(self.records)
                + len(self.pulls)
                + len(self.functions)
                + sum(one["count"] for one in self.records)
            )
            if size == self._written:
                return
            self._written = size
            self.name_variables()
            data = {
                "version": VERSION,
                "pid": os.getpid(),
                "framework": "tensorflow",
                "kernels": source(),
                "has_gpu_kernels": has_gpu_kernels(),
                "steps": max(0, (self.recording.step or 0) - 1) if self._first_step_over else 0,
                "sites": {str(number): place for number, place in self.sites.items()},
                "records": self.records,
                "functions": self.functions,
                "pulls": list(self.pulls.values()),
                "notes": list(self.notes.values()),
                "left_out": self._left_out,
            }
            text = json.dumps(data, separators=(",", ":"))
        folder = os.path.join(os.path.dirname(self.recording.folder), FOLDER)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, f"{os.getpid()}.json")
        with open(path + ".new", "w") as file:
            file.write(text)
        os.replace(path + ".new", path)


def _of_this_machine(device: str) -> bool:
    """Whether a device in a graph is where something is here, and not what the code asked for by name.

    A scope that is made from a tensor's device has its whole name; the code's own have not.
    """
    return device.startswith("/job:localhost/") and device.endswith("CPU:0")


def _about(tensor: Any) -> list[Any]:
    """[type's name, extents]."""
    shape = tensor._shape_tuple()
    return [tensor.dtype.name, list(shape) if shape is not None else None]


def _about_symbolic(tensor: Any) -> list[Any]:
    shape = tensor.shape
    return [tensor.dtype.base_dtype.name, None if shape.rank is None else shape.as_list()]


def _definition(op_type: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """(attribute -> kind, [(attribute that an input's type is, '=' where it is fixed)])."""
    from tensorflow.python.framework import op_def_registry

    found = op_def_registry.get(op_type)
    if found is None:
        return {}, []
    kinds = {attribute.name: attribute.type for attribute in found.attr}
    arguments: list[tuple[str, str]] = []
    for argument in found.input_arg:
        if argument.number_attr or argument.type_list_attr:
            break
        arguments.append((argument.type_attr, "" if argument.type_attr else "="))
    return kinds, arguments


def _calls(op: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for attribute in _FUNCTION_ATTRIBUTES.get(op.type, ()):
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


def _frozen(types: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(types.items()))
