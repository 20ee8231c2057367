"""Python functions that a graph calls with numpy arrays: ``tf.numpy_function``, ``tf.py_func``.

Their op has a kernel for the host only, so with GPUs their arguments cross to it and are told as any hop. A
stand-in has that kernel too: there the op runs "on the device", and what it hands to Python is told as taken
from it. (Functions of ``tf.py_function`` are handed tensors; what they take of them is seen as they do.)
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..trace.frames import PASSING, stands_for
from ..trace.hop import HOST, IN_GRAPH, HopConsumer, HopProducer, HopTensor, hop_key, is_host
from ..trace.recording import Recording
from ..trace.schema import SyncFields
from .functions import Functions
from .names import short_device
from .origins import NO_NOTE, OpNote, Origins, split_input

_OPS = ("PyFunc", "PyFuncStateless")
_MOST_EARLY = 1000


class _Home(NamedTuple):
    """Where the op of a function was put."""

    device: str
    loc: int
    """The line that asked for it."""
    makers: tuple[tuple[str, OpNote], ...]
    """Name and note of what makes each argument."""


_Taken = tuple[tuple[str, tuple[int, ...], int], ...]
"""Of each argument its dtype, shape and bytes."""


class PythonOps:
    """Counts the calls of this process's Python functions."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._homes: dict[bytes, _Home] = {}
        self._early: dict[bytes, dict[_Taken, int]] = {}
        """Calls of functions whose graph has not been read yet: it comes after the call."""
        self._lock = threading.Lock()

    def placed(self, owner: str, notes: Mapping[str, Any], function_graph: Any) -> None:
        """A function's placed graph has come: note where it has its Python functions."""
        for part in function_graph.partition_graphs:
            nodes = {node.name: node for node in part.node}
            for node in (node for node in part.node if node.op in _OPS):
                origins = Origins(owner, notes)
                names = [split_input(text)[0] for text in node.input if not text.startswith("^")]
                makers = tuple((name, origins.note(nodes[name])) for name in names if name in nodes)
                self._found(
                    node.attr["token"].s, _Home(short_device(node.device), origins.note(node).loc, makers)
                )

    def _found(self, token: bytes, home: _Home) -> None:
        with self._lock:
            self._homes[token] = home
            early = self._early.pop(token, {})
        for taken, times in early.items():
            self._count(home, taken, times)

    def called(self, token: bytes, arguments: Any) -> None:
        """The runtime calls a function with these arrays."""
        taken = tuple(
            (value.dtype.name, tuple(value.shape), int(value.nbytes))
            for value in arguments
            if hasattr(value, "nbytes") and value.dtype != object
        )
        with self._lock:
            home = self._homes.get(token)
            if home is None:
                early = self._early.setdefault(token, {})
                if len(early) < _MOST_EARLY:
                    early[taken] = early.get(taken, 0) + 1
                return
        self._count(home, taken, 1)

    def _count(self, home: _Home, taken: _Taken, times: int) -> None:
        device, location = home.device, home.loc
        if is_host(device) or not device.startswith("cpu:"):
            return
        identity = ("python op", device, location, taken)
        size = sum(part[2] for part in taken)
        fields = SyncFields(device=device, kind=IN_GRAPH, loc=location, bytes=size, basis="measured")
        self.recording.happened(self.recording.key(identity, "sync", fields), "sync", times=times)
        for position, (dtype, shape, part) in enumerate(taken):
            key = self.recording.known_key((*identity, position))
            if key is None:
                known = position < len(home.makers)
                maker, note = home.makers[position] if known else ("", NO_NOTE)
                hop = hop_key(
                    HopProducer(device, note.type or "?", note.loc, maker, note.requested),
                    HopConsumer(HOST, "Python", location, names=[IN_GRAPH]),
                    HopTensor(part, dtype, shape),
                    "pull",
                    facts={"sync": IN_GRAPH},
                )
                key = self.recording.key((*identity, position), "hop", hop)
            self.recording.happened(key, "hop", times=times)


def install(recording: Recording, functions: Functions) -> None:
    """Wrap what the runtime calls for every Python function of a graph; `functions` tells of their graphs."""
    from tensorflow.python.ops import script_ops

    python_ops = PythonOps(recording)
    guard = recording.guard("calls of Python functions by graphs")
    call = script_ops.FuncRegistry.__call__

    @stands_for(call)
    def call_recorded(self: Any, token: Any, device: Any, args: Any) -> Any:
        with guard:
            if not isinstance(self.get(token, None), script_ops.EagerFunc):
                python_ops.called(token if isinstance(token, bytes) else str(token).encode(), args)
        with PASSING:
            return call(self, token, device, args)

    script_ops.FuncRegistry.__call__ = call_recorded
    functions.graphs.on_placed.append(python_ops.placed)
