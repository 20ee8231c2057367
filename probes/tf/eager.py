"""Records every eager op: where it ran, its line, and each input that had to come from another device.

TensorFlow calls an op callback after each eager op. What it costs is paid on every op, so the common
case is a look-up in a table and one increment.
"""

from __future__ import annotations

import threading
from typing import Any, Callable, Dict, List, Tuple

from ..trace.recording import SINGLE_EVENTS, Recording, clock
from .functions import Functions
from .gradients import current as gradient
from .gradients import remember as remember_forward
from .hosts import host_inputs
from .live import LiveBytes
from .names import is_host, memory_of, short_device, tensor_bytes

Mark = Tuple[str, int, str, str, Any]
"""What a tensor remembers: (producer's op type, location, name, requested device, live bytes or None)."""

_HANDLES = ("resource", "variant", "string")


class EagerOps:
    """The op callback and its tables."""

    def __init__(self, recording: Recording, functions: Functions) -> None:
        """`functions` knows which op types are calls of traced functions."""
        from tensorflow.python.eager import context

        self.recording = recording
        self.functions = functions
        self.live = LiveBytes.of(recording)
        self._context: Callable[[], Any] = context.context
        self._keys: Dict[Any, int] = {}
        self._constants: set[Any] = set()

    def __call__(
        self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        """Called by TensorFlow after each op; `graph` is None for eager ops."""
        if graph is not None or op_type in self.functions.called:
            return
        if isinstance(op_type, bytes):
            op_type = op_type.decode()
        recording = self.recording
        if outputs:
            device = short_device(outputs[0].device)
        elif inputs:
            device = short_device(inputs[0].device)
        else:
            device = short_device(self._context().device_name) or "cpu:0"
        location = recording.sites.current()
        forward = gradient.forward_loc
        if attrs and not forward:
            remember_forward(attrs, location, self._context().device_name or "")
        identity = (op_type, device, location, forward)
        key = self._keys.get(identity)
        if key is None:
            requested = short_device(self._context().device_name)
            key = self._keys[identity] = recording.key(
                ("op", *identity),
                "op",
                {
                    "op": op_type,
                    "device": device,
                    "requested": requested,
                    "loc": location,
                    "forward_loc": forward,
                },
            )
        counts = recording.counts
        count = counts[key] + 1
        counts[key] = count
        if count <= SINGLE_EVENTS:
            recording.event("op", clock(), 0, key)
        for index, tensor in enumerate(inputs):
            mark = tensor.__dict__.get("_hopscope") if hasattr(tensor, "__dict__") else None
            if mark is None:
                mark = self._first_seen(tensor, op_type, location)
            if tensor.device != (outputs[0].device if outputs else tensor.device):
                self._crossed(tensor, index, mark, op_type, device, location, forward)
        if outputs:
            self._remember(op_type, attrs, outputs, location)

    def _remember(self, op_type: str, attrs: Any, outputs: Any, location: int) -> None:
        requested = short_device(self._context().device_name)
        name = ""
        if op_type == "VarHandleOp":
            name = _attribute(attrs, "shared_name")
        for output in outputs:
            live = self.live.tensor(output, op_type, attrs)
            output._hopscope = (op_type, location, name, requested, live)

    def _first_seen(self, tensor: Any, op_type: str, location: int) -> Mark:
        """A tensor that no op made: Python or numpy data, converted by TensorFlow's C code."""
        device = short_device(tensor.device)
        mark: Mark = ("Python", location, "", "", None)
        if not is_host(device) and tensor.dtype.name not in _HANDLES:
            scalar = tensor.shape.rank == 0
            constant = (location, op_type, device, tensor.dtype)
            # TensorFlow keeps the scalars it converted, by device: the second use sends nothing.
            if not scalar or constant not in self._constants:
                if scalar:
                    self._constants.add(constant)
                self.upload(tensor, device, op_type, location)
        tensor._hopscope = mark
        return mark

    def upload(self, tensor: Any, device: str, op_type: str, location: int) -> None:
        """Count a transfer of Python's or numpy's data to a device."""
        shape = tuple(tensor.shape)
        identity = ("upload", device, location, op_type, tensor.dtype, shape)
        key = self._keys.get(identity)
        if key is None:
            on_host = is_host(short_device(tensor.backing_device))
            fields = _hop_fields("cpu:0", device, tensor, op_type, location, ("Python", location, "", "", None))
            fields.update(kind="upload", dst_memory=memory_of(device, on_host))
            key = self._keys[identity] = self.recording.key(identity, "hop", fields)
        self.recording.happened(key, "hop")

    def _crossed(
        self, tensor: Any, index: int, mark: Mark, op_type: str, device: str, location: int, forward: int
    ) -> None:
        """An input lives elsewhere: TensorFlow copies it once and keeps the copy beside the tensor."""
        if tensor.dtype.name in _HANDLES:
            return
        source = short_device(tensor.backing_device)
        on_host = index in host_inputs(op_type, tensor.dtype, device)
        if source == device or (on_host and is_host(source)):
            return
        mirrors: List[str] = tensor.__dict__.setdefault("_hopscope_mirrors", [])
        where = device + ("/host" if on_host else "")
        if where in mirrors:
            return
        mirrors.append(where)
        identity = ("copy", source, where, op_type, index, location, mark[0], mark[1], tensor.dtype, tensor.shape)
        try:
            key = self._keys.get(identity)
        except TypeError:  # a shape that can't be hashed: unknown rank
            identity = (*identity[:-1], str(tensor.shape))
            key = self._keys.get(identity)
        if key is None:
            fields = _hop_fields(source, device, tensor, op_type, location, mark)
            fields.update(
                dst_memory=memory_of(device, on_host),
                forward_loc=forward,
                requested=short_device(self._context().device_name),
            )
            if forward:
                fields["facts"]["forward_requested"] = short_device(gradient.forward_requested)
            key = self._keys[identity] = self.recording.key(identity, "hop", fields)
        self.recording.happened(key, "hop")


def _hop_fields(
    source: str, device: str, tensor: Any, op_type: str, location: int, mark: Mark
) -> Dict[str, Any]:
    return {
        "src": source,
        "dst": device,
        "src_memory": memory_of(source),
        "dst_memory": memory_of(device),
        "tensor": mark[2] or f"{mark[0]}:0",
        "op": op_type,
        "producer": mark[2] or mark[0],
        "producer_op": mark[0],
        "consumers": [op_type],
        "bytes": tensor_bytes(tensor),
        "dtype": tensor.dtype.name,
        "shape": "x".join(map(str, tensor.shape)),
        "loc": location,
        "producer_loc": mark[1],
        "forward_loc": 0,
        "kind": "copy",
        "basis": "estimated",
        "graph": 0,
        "per_call": None,
        "in": None,
        "requested": "",
        "assigned": device,
        "producer_requested": mark[3],
        "facts": {},
    }


def _attribute(attrs: Any, name: str) -> str:
    for position in range(0, len(attrs or ()) - 1, 2):
        if attrs[position] in (name, name.encode()):
            value = attrs[position + 1]
            return value.decode() if isinstance(value, bytes) else str(value)
    return ""


def install(recording: Recording, functions: Functions) -> None:
    """Add the op callback in this thread and in every thread that starts from now on."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import constant_op, op_callbacks

    eager_ops = EagerOps(recording, functions)
    op_callbacks.add_op_callback(eager_ops)

    bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]

    def bootstrap_recorded(thread: threading.Thread) -> None:
        if thread.name != "hopscope":
            context.context().add_op_callback(eager_ops)
        bootstrap(thread)

    threading.Thread._bootstrap_inner = bootstrap_recorded  # type: ignore[attr-defined]

    convert = constant_op.convert_to_eager_tensor

    def convert_to_eager_tensor(value: Any, ctx: Any, dtype: Any = None) -> Any:
        tensor = convert(value, ctx, dtype)
        if "_hopscope" not in tensor.__dict__:
            location = recording.sites.current()
            device = short_device(tensor.device)
            requested = short_device(ctx.device_name)
            if not is_host(device) and tensor is not value and tensor.dtype.name not in _HANDLES:
                eager_ops.upload(tensor, device, "Const", location)
            live = eager_ops.live.tensor(tensor, "Const", None)
            tensor._hopscope = ("Const", location, "", requested, live)
        return tensor

    constant_op.convert_to_eager_tensor = convert_to_eager_tensor
