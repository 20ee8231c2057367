"""Notes, in a pre-flight, what each op takes from which other: enough to tell where they would run elsewhere.

The ordinary recorder notes what crosses between the devices that are here. On a machine with one device
nothing does. This notes every op with its types, the device asked for and its inputs' makers, and every
traced function as it was before it was placed. What would become of it on other devices is worked out
afterwards (`app/preflight/dialects/tensorflow`), from the file that this writes; its records are declared in
`probes/trace/preflight_notes.py`.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from typing import Any, Optional

from ..trace.preflight import KERNELS_VARIABLE
from ..trace.preflight_notes import PYTHON
from ..trace.preflight_steps import Steps
from ..trace.recording import Recording
from .dataflow_functions import TracedFunctions
from .gradients import current as gradient
from .kernel_registry import has_gpu_kernels, source, write_table
from .marks import noted
from .names import short_device
from .op_types import OpTypes

VERSION = 1
FOLDER = "dataflow"
KERNELS_NAME = "kernels.json.gz"
MOST_RECORDS = 20_000
_MOST_USES = 6
_MOST_EDGES = 12
"""Makers that one input of one record is noted with; a loop over layers has many."""
_RESOURCE = 20
_At = tuple[int, int, str]
"""(location, that of the forward op or 0, device requested for the forward op)."""


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
        self.scopes = Scopes()
        self.pulls: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.notes: dict[tuple[str, int], dict[str, Any]] = {}
        self.sites: dict[int, tuple[str, Optional[str]]] = {}
        self._known: dict[Any, int] = {}
        self._edges: dict[Any, list[Any]] = {}
        self._variables: dict[str, int] = {}
        self._types = OpTypes()
        self._lock = threading.RLock()
        self.functions = TracedFunctions(self._lock)
        self._handles: list[tuple[Any, int]] = []
        self._left_out = 0
        self._written = -1
        self.steps: Optional[Steps] = None

    # -- what ran --------------------------------------------------------------------------------------------

    def op(self, op_type: str, inputs: Sequence[Any], attrs: Any, outputs: Sequence[Any], scope: str) -> None:
        """An eager op ran; `scope` is the device that was asked for."""
        location = gradient.loc if gradient.forward_loc else self.recording.sites.current(2)
        at = (location, gradient.forward_loc, short_device(gradient.forward_requested))
        types = self._types.of(op_type, attrs, inputs)
        self._ran(op_type, types, inputs, outputs, scope, at)

    def call(self, name: str, inputs: Sequence[Any], outputs: Optional[Sequence[Any]], scope: str) -> None:
        """A traced function was called by its runtime's name."""
        at = (self.recording.sites.current(2), 0, "")
        self._ran(name, {}, inputs, outputs or (), scope, at, name)

    def constant(self, tensor: Any, scope: str) -> None:
        """Python or numpy data became a tensor by a call that makes one."""
        types = {"dtype": tensor.dtype.name}
        at = (self.recording.sites.current(2), 0, "")
        self._ran("_EagerConst", types, (), (tensor,), scope, at)

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

    def note(self, what: str, location: int = 0, facts: Optional[dict[str, Any]] = None) -> None:
        """Something at a line that a prediction depends on; of several times the last `facts` count."""
        with self._lock:
            note = self.notes.setdefault(
                (what, location), {"what": what, "loc": self._site(location), "count": 0}
            )
            note["count"] += 1
            if facts is not None:
                note["facts"] = facts

    def _ran(
        self,
        op_type: str,
        types: dict[str, Any],
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        scope: str,
        at: _At,
        function: str = "",
    ) -> None:
        requested = short_device(scope)
        beside = self.scopes.beside(scope)
        makers = [self._maker(tensor) for tensor in inputs]
        resources = tuple(
            maker for (maker, _), tensor in zip(makers, inputs) if tensor._datatype_enum() == _RESOURCE
        )
        # Several variables that one line makes are several things, each with its name.
        which = len(self._handles) if op_type == "VarHandleOp" else 0
        identity = (op_type, _frozen(types), requested, beside, at, resources, which)
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
                        "loc": self._site(at[0]),
                        "forward": [self._site(at[1]), at[2]],
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
        uses: list[int] = noted(tensor, "_hopscope_uses") or []
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
        if noted(tensor, "_hopscope_flow") is None:
            return None
        number = self._maker(tensor)[0]
        return None if number == PYTHON else number

    def _maker(self, tensor: Any) -> tuple[int, int]:
        known: Optional[tuple[int, int]] = noted(tensor, "_hopscope_flow")
        if known is not None:
            return known
        mark = noted(tensor, "_hopscope")
        if mark is not None and mark[0] == "ReadVariableOp" and mark[2] not in self._variables:
            self.name_variables()
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
            mark = noted(handle, "_hopscope")
            if mark is not None and mark[2]:
                self.records[number]["name"] = mark[2]
                self._variables[mark[2]] = number

    def first_step_over(self) -> None:
        """What happened up to now was for the start: its counts are kept apart, those of the last call."""
        with self._lock:
            for one in [*self.records, *self.pulls.values()]:
                one["early"] = one["count"]
            for edge in self._edges.values():
                edge[-1] = edge[-2]

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
                + len(self.functions.found)
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
                "steps": self.steps.after_first if self.steps else 0,
                "steps_made": self.steps.made if self.steps else 0,
                "sites": {str(number): place for number, place in self.sites.items()},
                "records": self.records,
                "functions": self.functions.found,
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


def _about(tensor: Any) -> list[Any]:
    """[type's name, extents]."""
    shape = tensor._shape_tuple()
    return [tensor.dtype.name, list(shape) if shape is not None else None]


def _frozen(types: dict[str, Any]) -> tuple[Any, ...]:
    return tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in sorted(types.items()))
