"""Records every eager op: where it ran, its line, and each input that had to come from another device.

TensorFlow calls an op callback after each eager op. What it costs is paid on every op, so the common
case is a look-up in a table and one increment.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional

from ..trace.hop import is_host, memory_of
from ..trace.pulled import Pulled, PulledArrays
from ..trace.recording import SINGLE_EVENTS, Recording, clock
from ..trace.schema import OpFields
from .crossings import Crossings, crossing_fields, resource_among
from .direct_reads import mark_direct_reads
from .functions import Functions
from .gradients import Forward, forward_ops
from .gradients import current as gradient
from .host_waits import brought
from .live import SMALL_ELEMENTS, LiveBytes
from .marks import HANDING_ON, UNRECORDED, Mark, noted, of_calls, openers, scopes_apart
from .marks import mark as mark_of
from .names import short_device
from .scopes import current as current_scope
from .scopes import of_another_thread
from .variables import value_of

Further = Callable[[Any, Any, Any, Mark, int, bool], Mark]
"""What else there is to note of an op of some types, by its inputs, outputs, attributes, mark, line and
whether it runs on the host; its outputs get the mark that this returns."""
Entry = tuple[int, Mark, Forward, bool, str, bool, Optional[Further]]
"""Of an op at a line: its key, its outputs' mark, what the tape gets to know of it, whether its outputs
take memory of their own, the device's full name as the one object that marks hold, whether it is the
host's, and what else there is to note."""
_SHARING = ("ReadVariableOp", "Identity", "Reshape")
"""Ops whose output is their input's memory again."""

_HANDLES = ("resource", "variant", "string")


class EagerOps:
    """The op callback and its tables."""

    def __init__(self, recording: Recording, functions: Functions) -> None:
        """`functions` knows which op types are calls of traced functions."""
        from tensorflow.python.eager import context

        self.recording = recording
        self.functions = functions
        self.live = LiveBytes.of(recording)
        self.pulled = PulledArrays.of(recording)
        self._windows, self._amount = recording.windows, recording.windows.amount()
        self._types: set[Any] = set()
        """Types of the ops so far, as the runtime gives them."""
        self._context: Callable[[], Any] = context.context
        self._called = functions.called
        self._current_location = recording.sites.current
        self._ops: dict[tuple[str, str, int, int, str], Entry] = {}
        self._data: dict[Any, tuple[Mark, Optional[int]]] = {}
        self._values: dict[tuple[int, int], Mark] = {}
        self._crossings = Crossings(recording, context.context)
        self._crossed = self._crossings.crossed
        self._further: dict[str, Further] = {
            **dict.fromkeys(HANDING_ON, self._handed_on),
            "ReadVariableOp": self._read,
            "VarHandleOp": self._variable,
        }
        self._large: set[int] = set()
        """Ops that made a tensor worth counting as memory; the others are no longer asked after a while."""

    def __call__(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        """Called by TensorFlow after each op; `graph` is None for eager ops.

        While a graph is made, each callback is given what the one before it returned, and the op's outputs,
        a list in itself, become what the last one returned: a tuple, if the only one returns what it got.
        """
        if graph is not None:
            return outputs if len(self._context().op_callbacks) > 1 else None
        if op_type in self._called:
            return outputs
        try:
            amount = self._amount
            amount.now += 1
            if self._windows.paused:
                if amount.now <= amount.most and op_type in self._types:
                    for output in outputs or ():
                        output._hopscope = UNRECORDED
                    return outputs
                self._windows.new()
            self._ran(op_type, inputs, attrs, outputs)
        except Exception as error:  # noqa: BLE001 - the program's op must not fail by it
            self.recording.failed("eager ops", error)
        return outputs

    def _ran(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        """Record an op in full."""
        self._types.add(op_type)
        if type(op_type) is bytes:
            op_type = op_type.decode()
        device = outputs[0].device if outputs else self._device_without_outputs(inputs)
        # All ops of one backward pass have the line that asked for it: no need to walk to it each time.
        forward = gradient.forward_loc
        location = gradient.loc if forward else self._current_location()
        wanted = gradient.forward_requested if forward else ""
        if op_type == "ReadVariableOp":
            # It runs where the variable lives, whatever each call's scope asks for.
            wanted += self._context().device_name or ""
        identity = (op_type, device, location, forward, wanted)
        entry = self._ops.get(identity)
        if entry is None:
            entry = self._ops[identity] = self._define(op_type, attrs, device, location, forward, inputs)
        key, mark, origin, keeps, device, on_host, further = entry
        counts = self.recording.counts
        count = counts[key] + 1
        counts[key] = count
        if count <= SINGLE_EVENTS:
            self._single(identity, entry, count)
        if attrs and not forward:
            forward_ops[id(attrs)] = origin
        for tensor in inputs:
            source = noted(tensor, "_hopscope") or self._unmarked(tensor, op_type, inputs, location, mark)
            if source[4] is not device and _elsewhere(tensor, source, device):
                self._crossed(tensor, inputs, source, mark, forward, device)
        if on_host:
            self._awaits(inputs, outputs, device, location)
        if further is not None:
            mark = further(inputs, outputs, attrs, mark, location, on_host)
        for output in outputs:
            output._hopscope = mark
        if keeps:
            self._keep(outputs, key, device)

    def _keep(self, outputs: Any, key: int, device: str) -> None:
        """Count the memory of what an op made."""
        for output in outputs:
            elements = output._num_elements()
            if elements >= SMALL_ELEMENTS:
                self._large.add(key)
                output._hopscope_live = self.live.tensor(output, device, elements)

    def _device_without_outputs(self, inputs: Any) -> str:
        device: str = inputs[0].device if inputs else self._context().device_name or "CPU:0"
        return device

    def _single(self, identity: tuple[str, str, int, int, str], entry: Entry, count: int) -> None:
        """One of the first executions of a key is an event of its own."""
        key, mark, origin, _, device, on_host, further = entry
        self.recording.event("op", clock(), 0, key)
        if count == SINGLE_EVENTS and key not in self._large:
            self._ops[identity] = (key, mark, origin, False, device, on_host, further)

    def _unmarked(self, tensor: Any, op_type: str, inputs: Any, location: int, mark: Mark) -> Mark:
        """The mark of an input that no recorded op made."""
        mark_direct_reads(sys._getframe(3), inputs, location, mark[3])
        source: Optional[Mark] = noted(tensor, "_hopscope")
        return source or self._first_seen(tensor, op_type, location)

    def _handed_on(
        self, inputs: Any, outputs: Any, attrs: Any, mark: Mark, location: int, on_host: bool
    ) -> Mark:
        """An op whose output has its input's values."""
        moved = _moved(inputs[0], mark[4], location)
        if moved is not None:
            outputs[0]._hopscope_moved = moved
        elif on_host and noted(inputs[0], "_hopscope_pulled") is not None:
            outputs[0]._hopscope_pulled = inputs[0]._hopscope_pulled
        return mark

    def _read(self, inputs: Any, outputs: Any, attrs: Any, mark: Mark, location: int, on_host: bool) -> Mark:
        """A variable was read: as `value_of`, by identity, since this is asked with every read."""
        handle = inputs[0]._hopscope
        identity = (id(handle), id(mark))
        known = self._values.get(identity)
        if known is None:
            known = self._values[identity] = value_of(handle, mark)
        return known

    def _variable(
        self, inputs: Any, outputs: Any, attrs: Any, mark: Mark, location: int, on_host: bool
    ) -> Mark:
        """The handle of a variable was made."""
        outputs[0]._hopscope_live = self.live.variable(attrs, mark[4])
        return mark_of(mark[0], location, _attribute(attrs, "shared_name"), mark[3], mark[4])

    def _define(
        self, op_type: str, attrs: Any, full_device: str, location: int, forward: int, inputs: Any
    ) -> Entry:
        device = short_device(full_device)
        scope = self._context().device_name or ""
        requested = short_device(scope)
        made = current_scope()
        fields = OpFields(
            op=op_type,
            device=device,
            requested=requested,
            loc=location,
            forward_loc=forward,
            scope_loc=made.line,
        )
        wanted = short_device(gradient.forward_requested) if forward else ""
        if wanted:
            fields["forward_requested"] = wanted
        identity = ("op", op_type, device, location, forward, wanted, requested)
        key = self.recording.key(identity, "op", fields)
        if op_type == "MultiDeviceIteratorInit":
            why = "the input pipeline copies them ahead of the step, in its own threads"
            self.recording.unseen("copies of batches to the devices of a distributed dataset", why)
        if "Dataset" in op_type and _holds_function(attrs):
            why = "tf.data runs them in its own threads on the host"
            self.recording.unseen("functions of input pipelines", why)
        self._counts = self.recording.counts
        mark = mark_of(op_type, location, "", requested, full_device)
        if made.opener:
            openers[mark] = made.opener
        if not requested and (apart := of_another_thread()):
            scopes_apart[mark] = apart
        beside = resource_among(inputs, full_device)
        if beside:
            self._crossings.works_on[mark] = beside
        # Where there is but one device, nothing that the host takes was made elsewhere.
        on_host = is_host(device) and op_type != "ReadVariableOp" and len(self._context().devices()) > 1
        keeps, further = op_type not in _SHARING, self._further.get(op_type)
        return key, mark, (location, scope, ""), keeps, full_device, on_host, further

    def _awaits(self, inputs: Any, outputs: Any, device: str, location: int) -> None:
        """Note on what the host makes of an input from elsewhere that it waits for that device."""
        for tensor in inputs:
            if _elsewhere(tensor, tensor._hopscope, device):
                awaited = brought(tensor, location)
            else:
                awaited = noted(tensor, "_hopscope_awaits")
            if awaited is not None:
                for output in outputs:
                    output._hopscope_awaits = awaited
                return

    def _first_seen(self, tensor: Any, op_type: str, location: int) -> Mark:
        """A tensor that no op made: Python or numpy data, converted by TensorFlow's C code.

        TensorFlow keeps the scalars that it converted, by device: their second use sends nothing.
        """
        shape = tensor._shape_tuple()
        identity = (op_type, location, tensor.device, shape and (tensor._datatype_enum(), shape))
        known = self._data.get(identity)
        if known is None:
            mark = mark_of("Python", location, "", "")
            device = short_device(tensor.device)
            again: Optional[int] = None
            if not is_host(device) and tensor.dtype.name not in _HANDLES:
                key = self._upload_key(tensor, device, op_type, location)
                self.recording.happened(key, "hop")
                again = key if shape else None
            known = self._data[identity] = (mark, again)
        elif known[1] is not None:
            self.recording.happened(known[1], "hop")
        tensor._hopscope = known[0]
        return known[0]

    def converted(self, tensor: Any, value: Any) -> None:
        """Python or numpy data became a tensor: on a device other than the host that is a transfer."""
        location = self._current_location()
        pulled = self.pulled.origin(value)
        identity = ("Const", location, tensor.device, tensor._datatype_enum(), tensor._shape_tuple(), pulled)
        known = self._data.get(identity)
        if known is None:
            device = short_device(tensor.device)
            requested = short_device(self._context().device_name)
            key = None
            if not is_host(device) and tensor.dtype.name not in _HANDLES:
                key = self._upload_key(tensor, device, "Const", location, pulled)
            known = self._data[identity] = (mark_of("Const", location, "", requested), key)
        tensor._hopscope, key = known
        if key is not None:
            self.recording.happened(key, "hop")
        elif pulled is not None:
            # It lies on the host for now: what takes it to a device sends the array on.
            tensor._hopscope_pulled = pulled
        elements = tensor._num_elements()
        if elements >= SMALL_ELEMENTS:
            tensor._hopscope_live = self.live.tensor(tensor, tensor.device, elements)

    def copied(self, tensor: Any, copy: Any, call: str) -> None:
        """The code called a copy itself, by a method of this name; a copy to the same device is none."""
        source, device = short_device(tensor.backing_device), short_device(copy.backing_device)
        mark = noted(tensor, "_hopscope") or UNRECORDED
        if source == device:
            copy._hopscope = mark
            return
        location = self._current_location()
        shape = tensor._shape_tuple()
        place = ("copied", source, device, location, tensor._datatype_enum(), shape, call)
        identity = (*place, id(mark))
        key = self.recording.known_key(place if mark is UNRECORDED else identity)
        if key is None:
            fields = crossing_fields(source, device, tensor, "Copy", location, mark)
            fields["facts"]["copy_call"] = call
            key = self.recording.key(identity, "hop", fields)
            self.recording.also_known(place, key)
        self.recording.happened(key, "hop")
        copy._hopscope = mark_of("Copy", location, mark[2], device)
        elements = copy._num_elements()
        if elements >= SMALL_ELEMENTS:
            copy._hopscope_live = self.live.tensor(copy, copy.device, elements)

    def _upload_key(
        self, tensor: Any, device: str, op_type: str, location: int, pulled: Optional[Pulled] = None
    ) -> int:
        place = ("upload", device, location, op_type, pulled)
        identity = (*place, tensor._datatype_enum(), tensor._shape_tuple())
        key = self.recording.known_key(identity)
        if key is None:
            on_host = is_host(short_device(tensor.backing_device))
            fields = crossing_fields(
                "cpu:0", device, tensor, op_type, location, ("Python", location, "", "", "")
            )
            fields["kind"] = "upload"
            fields["dst_memory"] = memory_of(device, on_host)
            if pulled is not None:
                fields["producer_loc"] = pulled.loc
                fields["facts"].update(pulled.facts)
            key = self.recording.key(identity, "hop", fields)
        return key


def _moved(tensor: Any, device: str, location: int) -> Optional[tuple[str, int]]:
    """Where the values came from that an op on `device` hands on unchanged, and the line of that copy.

    Also where the op read the copy that TensorFlow kept of an earlier transfer.
    """
    if _elsewhere(tensor, tensor._hopscope, device):
        return short_device(tensor.backing_device), location
    moved: Optional[tuple[str, int]] = noted(tensor, "_hopscope_moved")
    return moved


def _elsewhere(tensor: Any, source: Mark, device: str) -> bool:
    """Whether a tensor with this mark lies on another device than this."""
    if source[4] is device:
        return False
    return bool(tensor.device != device or (not source[4] and _lies_elsewhere(tensor, source, device)))


def _lies_elsewhere(tensor: Any, source: Mark, device: str) -> bool:
    """Whether a function's result lies on another device of the process than it says.

    Called in no scope it says the default device, and may lie where it was made. Of other tensors this tells
    nothing: what Python's data was made into lies in the host's memory for every CPU device.
    """
    if source not in of_calls:
        return False
    lies, asked = tensor.backing_device.rpartition("/"), device.rpartition("/")
    return bool(lies[0] == asked[0] and lies[2] != asked[2])


def _holds_function(attrs: Any) -> bool:
    return any(name in (attrs or ()) for name in ("f", "predicate", "reduce_func", "key_func"))


def _attribute(attrs: Any, name: str) -> str:
    for position in range(0, len(attrs or ()) - 1, 2):
        if attrs[position] in (name, name.encode()):
            value = attrs[position + 1]
            return value.decode() if isinstance(value, bytes) else str(value)
    return ""
