"""Inputs of eager ops that lie on another device than the op: TensorFlow copies them, once each.

The copy is kept beside the tensor, so that what takes the tensor there once more reads that one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..trace.hop import HopConsumer, HopProducer, HopTensor, hop_key, is_host, memory_of
from ..trace.recording import SINGLE_EVENTS, Recording, clock
from ..trace.schema import HopFields
from .gradients import current as gradient
from .hosts import on_host as reads_on_host
from .kernels import default_gpu, kernel_facts, types_of_input, types_of_output
from .marks import HANDING_ON, KEPT_ON_HOST, UNRECORDED, Mark, noted, of_calls, openers, scopes_apart
from .names import short_device, tensor_bytes
from .scopes import current as current_scope
from .variables import handle_of, kept_by, note_creation

_RESOURCE = 20
_HANDLE_TYPES = (_RESOURCE, 21)
"""DataType of resource and variant handles."""
_MADE_OF_ARRAYS = {"Const", *HANDING_ON}
"""By what an array that Python took may have become a tensor as it was."""


class _Input(NamedTuple):
    """An input of an eager op."""

    tensor: Any
    slot: int
    mark: Mark
    beside: str
    """Variable or other resource of the op's device among the inputs before it; '' where there is none."""


class Crossings:
    """The transfers of eager ops' inputs."""

    def __init__(self, recording: Recording, context: Any) -> None:
        """`context` gives TensorFlow's eager context."""
        self.recording = recording
        self.works_on: dict[Mark, str] = {}
        """Of ops that work on a variable, a table or the like: its name, by the mark of their outputs."""
        self._context = context
        self._known: dict[Any, int] = {}
        self._at: dict[Any, int] = {}
        """As `_known`, of tensors whose origin was not recorded: the last one that came to this place."""

    def crossed(
        self, tensor: Any, inputs: Any, mark: Mark, own: Mark, forward: int, full_device: str
    ) -> None:
        """An input of the op with the mark `own` lives elsewhere; `full_device` is the op's."""
        dtype = tensor._datatype_enum()
        if dtype in _HANDLE_TYPES:
            return
        mirrors = noted(tensor, "_hopscope_mirrors")
        if mirrors is None:
            tensor._hopscope_mirrors = [full_device]
        elif full_device in mirrors:
            return
        else:
            mirrors.append(full_device)
        index = 0
        while inputs[index] is not tensor:
            index += 1
        beside = resource_among(inputs[:index], full_device) if index else ""
        moved = noted(tensor, "_hopscope_moved")
        # Of other tensors it is not asked: what one does not have takes long to find.
        pulled = noted(tensor, "_hopscope_pulled") if mark[0] in _MADE_OF_ARRAYS else None
        # Each call of a function may return its result on another device, with the same mark.
        source = mark[4] or tensor.backing_device
        # One line may run in several scopes whose ops end up on one device.
        scope = self._context().device_name or ""
        place = (id(own), source, index, dtype, tensor._shape_tuple(), full_device, forward, beside, scope)
        identity = (place, id(mark), moved, pulled)
        key = self._at.get(place) if mark is UNRECORDED else self._known.get(identity)
        if key is None:
            taken = _Input(tensor, index, mark, beside)
            key = self._crossing(taken, own, forward, full_device, scope)
            self._known[identity] = self._at[place] = key
        if key:
            counts = self.recording.counts
            count = counts[key] + 1
            counts[key] = count
            if count <= SINGLE_EVENTS:
                self.recording.windows.watch(key)
                self.recording.event("hop", clock(), 0, key)

    def _crossing(self, taken: _Input, own: Mark, forward: int, full_device: str, scope: str) -> int:
        """The key of a hop, or 0 where nothing is copied: the kernel takes this input on the host."""
        tensor, index, mark, beside = taken
        op_type, location = own[0], own[1]
        device, source = short_device(full_device), short_device(tensor.backing_device)
        on_host = reads_on_host(op_type, index, tensor.dtype, device)
        if source == device or (on_host and is_host(source)):
            return 0
        fields = crossing_fields(source, device, tensor, op_type, location, mark)
        # The op's mark only has the scope of its first call.
        requested = short_device(scope)
        fields["dst_memory"] = memory_of(device, on_host)
        fields["forward_loc"] = forward
        fields["requested"] = requested
        _note_scopes(fields, own, mark)
        moved = noted(tensor, "_hopscope_moved")
        if moved is not None:
            fields["copied_from"], fields["copy_loc"] = moved
        pulled = noted(tensor, "_hopscope_pulled")
        if pulled is not None:
            fields["pulled_loc"] = pulled.loc
            fields["facts"] |= pulled.facts
        if mark in of_calls:
            kept = tensor.dtype.name in KEPT_ON_HOST and is_host(source)
            fields["facts"]["result_of_function" if kept else "made_by_function"] = True
        if forward:
            fields["facts"]["forward_requested"] = short_device(gradient.forward_requested)
            fields["facts"]["forward_op"] = gradient.forward_op
        handle = handle_of(mark)
        note_creation(fields, handle)
        _note_variable(fields, mark)
        if beside:
            fields["facts"]["works_on"] = beside
        if mark in self.works_on:
            fields["facts"]["producer_works_on"] = self.works_on[mark]
        types = types_of_input(op_type, index, tensor.dtype.name)
        fields["facts"] |= kernel_facts("", op_type, own[3], device, types, default_gpu())
        types = types_of_output(mark[0], tensor.dtype.name)
        fields["facts"] |= kernel_facts("producer_", mark[0], mark[3], source, types, default_gpu())
        place = (source, device, on_host, own, index, mark, tensor._datatype_enum(), tensor._shape_tuple())
        call = fields.get("variable_call_loc")
        return self.recording.key(
            ("copy", *place, forward, beside, moved, pulled, handle, call, requested), "hop", fields
        )


def _note_scopes(fields: HopFields, own: Mark, mark: Mark) -> None:
    """Note in which scopes the op with the mark `own` runs and its input was made."""
    if fields["requested"]:
        made = current_scope()
        fields["scope_loc"] = made.line
        if made.opener:
            fields["facts"]["scope_opener"] = made.opener
    elif own in scopes_apart:
        fields["scope_apart_loc"] = scopes_apart[own]
    if mark in scopes_apart:
        fields["producer_scope_apart_loc"] = scopes_apart[mark]
    if mark in openers:
        fields["facts"]["producer_scope_opener"] = openers[mark]


def _note_variable(fields: HopFields, mark: Mark) -> None:
    if mark[0] == "ReadVariableOp" and mark[2]:
        fields["facts"]["variable"] = mark[2]
        if strategy := kept_by(mark[2]):
            fields["facts"]["kept_by"] = strategy


def resource_among(inputs: Any, full_device: str) -> str:
    """The variable, table or other resource of this device among an op's inputs; '' where there is none.

    An op on a resource runs where that lives, whatever device was asked for.
    """
    for tensor in inputs:
        if tensor._datatype_enum() == _RESOURCE and tensor.device == full_device:
            mark = noted(tensor, "_hopscope")
            return str((mark and (mark[2] or mark[0])) or "a resource")
    return ""


def crossing_fields(
    source: str, device: str, tensor: Any, op_type: str, location: int, mark: Mark
) -> HopFields:
    """What a hop's key holds of a tensor with this mark that goes to an op of the code."""
    return hop_key(
        HopProducer(source, mark[0], mark[1], mark[2], mark[3]),
        HopConsumer(device, op_type, location),
        HopTensor(tensor_bytes(tensor), tensor.dtype.name, tensor.shape),
        "copy",
    )
