"""Brings the pre-flight's notes into the hooks of the recorder, where the environment asks for them."""

from __future__ import annotations

import atexit
import contextlib
import sys
from collections.abc import Iterator
from typing import Any, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.preflight import limit_steps, wanted
from ..trace.recording import Recording
from . import buffers, dataflow_keras, function_graphs
from .dataflow import Dataflow
from .direct_reads import mark_direct_reads
from .eager import EagerOps
from .functions import Functions
from .marks import noted
from .names import short_device
from .syncs import KINDS, purpose_of

_FORESEEN = "what is noted to foresee other devices"
_MIRRORED = ("MirroredStrategy", "MultiWorkerMirroredStrategy", "CollectiveAllReduceStrategy")


def install(recording: Recording) -> None:
    """Before the recorder's own hooks are put in: what they call is wrapped, in a pre-flight only."""
    if not wanted():
        return
    flow = Dataflow(recording)
    _note_sites(recording, flow)
    _wrap_ops(flow)
    _wrap_colocation(flow)
    _wrap_functions(flow)
    _wrap_values(flow)
    _wrap_questions(flow)
    dataflow_keras.install(flow)
    flow.steps = limit_steps(recording, flow.first_step_over)
    recording.tickers.append(flow.write)
    atexit.register(flow.write)
    atexit.register(flow.write_kernels)


def _note_sites(recording: Recording, flow: Dataflow) -> None:
    define = recording.sites.define

    def defined(site: str, via: Optional[str], file: str, line: int, function: str) -> int:
        number = define(site, via, file, line, function)
        flow.sites[number] = (site, via)
        return number

    recording.sites.define = defined


def _scope() -> str:
    from tensorflow.python.eager import context

    scope = str(context.context().device_name or "")
    return "" if scope.endswith("CPU:0") and _mirrored() else scope


def _mirrored() -> bool:
    """Whether a strategy puts what is made now on the devices that it found: here one CPU, there all GPUs."""
    from tensorflow.python.distribute import distribute_lib

    return distribute_lib.has_strategy() and type(distribute_lib.get_strategy()).__name__ in _MIRRORED


def _wrap_ops(flow: Dataflow) -> None:
    kept: Any = EagerOps
    called, converted = kept.__call__, kept.converted
    guard = flow.recording.guard(_FORESEEN)

    def op(
        self: Any, op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        with guard:
            if graph is None and any(noted(tensor, "_hopscope") is None for tensor in inputs):
                # The recorder looks for its caller's variables: its caller is this function now.
                location = flow.recording.sites.current()
                mark_direct_reads(sys._getframe(1), inputs, location, short_device(_scope()))
        called(self, op_type, inputs, attrs, outputs, op_name, graph)
        with guard:
            text = op_type.decode() if isinstance(op_type, bytes) else op_type
            if graph is None and text not in self.functions.called:
                flow.op(text, inputs, attrs, outputs or (), _scope())
        return outputs

    def constant(self: Any, tensor: Any, *more: Any) -> None:
        converted(self, tensor, *more)
        flow.constant(tensor, _scope())

    kept.__call__, kept.converted = op, constant


def _wrap_colocation(flow: Dataflow) -> None:
    """Scopes of the kind "where this is": what that is here is no request for elsewhere."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import ops

    module: Any = ops
    original = module._colocate_with_for_gradient
    guard = flow.recording.guard(_FORESEEN)

    @stands_for(original)
    def colocate(op: Any, *more: Any, **named: Any) -> Any:
        with PASSING:
            made = original(op, *more, **named)
        with guard:
            maker = flow.maker_of(op) if op is not None and context.executing_eagerly() else None
            if maker is not None:
                return _beside(flow, made, str(op.device), maker)
        return made

    module._colocate_with_for_gradient = colocate


@contextlib.contextmanager
def _beside(flow: Dataflow, made: Any, device: str, maker: int) -> Iterator[None]:
    with PASSING, made:
        flow.scopes.open.append((device, maker))
        try:
            yield
        finally:
            flow.scopes.open.pop()


def _wrap_functions(flow: Dataflow) -> None:
    kept: Any = Functions
    module: Any = function_graphs
    traced, ended, read = kept.traced, kept.ended, module.read_placed

    def function_traced(self: Any, name: str, graph: Any, attrs: Any) -> None:
        traced(self, name, graph, attrs)
        flow.functions.traced(name, graph, attrs)

    def function_ended(self: Any, call: Any, outputs: Any, *more: Any) -> None:
        try:
            # First, so that the call belongs to the step that it may end.
            flow.call(call.name, call.inputs, outputs, _scope())
        finally:
            ended(self, call, outputs, *more)

    def read_placed(recording: Any, function_graph: Any, owner: str, notes: Any, call: Any) -> Any:
        flow.functions.placed(function_graph, owner, call.arguments)
        return read(recording, function_graph, owner, notes, call)

    kept.traced, kept.ended = function_traced, function_ended
    module.read_placed = read_placed


def _wrap_values(flow: Dataflow) -> None:
    """Both ways in which Python takes a value, below the recorder's own hooks."""
    from tensorflow.python.framework import ops

    guard = flow.recording.guard(_FORESEEN)

    def pulled(tensor: Any, kind: str) -> None:
        with guard:
            location = flow.recording.sites.current(2)
            flow.pulled(tensor, purpose_of(flow.recording, sys._getframe(2)) or kind, location)

    base: Any = getattr(ops, "_EagerTensorBase", None) or ops.EagerTensor.__mro__[1]
    original, install_buffers = base._numpy, buffers.install

    @stands_for(original)
    def _numpy(self: Any) -> Any:
        caller: Any = sys._getframe(1)
        if caller.f_code.co_name == "_numpy":  # the recorder's own hook
            caller = caller.f_back
        pulled(self, KINDS.get(caller.f_code.co_name, "other"))
        with PASSING:
            return original(self)

    def install(recording: Any, tensor_type: type, read: Any) -> None:
        def both(tensor: Any, dur: int) -> None:
            pulled(tensor, "array")
            read(tensor, dur)

        install_buffers(recording, tensor_type, both)

    base._numpy = _numpy
    buffers.install = install


def _wrap_questions(flow: Dataflow) -> None:
    """A script that asks which GPUs there are may do something else where there are some."""
    from tensorflow.python.distribute import distribute_lib
    from tensorflow.python.eager import context
    from tensorflow.python.framework import config

    for name in ("list_physical_devices", "list_logical_devices"):
        _wrap_question(flow, context.Context, name, config.__file__)

    made: Any = distribute_lib.StrategyBase
    init = made.__init__
    guard = flow.recording.guard(_FORESEEN)

    @stands_for(init)
    def strategy_made(self: Any, *args: Any, **kwargs: Any) -> None:
        with guard:
            if not type(self).__name__.startswith("_"):
                flow.note(f"strategy {type(self).__name__}", flow.recording.sites.current())
        with PASSING:
            init(self, *args, **kwargs)

    made.__init__ = strategy_made
    _wrap_exchange(flow, distribute_lib.ReplicaContextBase)


def _wrap_exchange(flow: Dataflow, owner: Any) -> None:
    """What replicas would sum among each other, were there several: here is one."""
    original = owner.all_reduce
    guard = flow.recording.guard(_FORESEEN)

    @stands_for(original)
    def all_reduce(self: Any, reduce_op: Any, value: Any, options: Any = None) -> Any:
        with guard:
            strategy, tensors = type(self.strategy).__name__, _tensors(value)
            facts = {"strategy": strategy, "tensors": tensors}
            if not strategy.startswith("_"):
                flow.note(f"all-reduce {len(tensors)}", flow.recording.sites.current(), facts)
        with PASSING:
            return original(self, reduce_op, value, options)

    owner.all_reduce = all_reduce


def _tensors(value: Any) -> list[tuple[str, Optional[list[Optional[int]]]]]:
    """Type and extents of each tensor, or numpy's array, in what replicas sum."""
    from tensorflow.python.framework import dtypes, tensor_shape
    from tensorflow.python.util import nest

    found = []
    for one in nest.flatten(value):
        if hasattr(one, "dtype") and hasattr(one, "shape"):
            shape = tensor_shape.as_shape(one.shape)
            extents = None if shape.rank is None else list(shape.as_list())
            found.append((dtypes.as_dtype(one.dtype).base_dtype.name, extents))
    return found


def _wrap_question(flow: Dataflow, owner: Any, name: str, through: str) -> None:
    original = getattr(owner, name)
    guard = flow.recording.guard(_FORESEEN)

    @stands_for(original)
    def asked(self: Any, device_type: Any = None) -> Any:
        with guard:
            frame = sys._getframe(1)
            while frame.f_code.co_filename == through and frame.f_back is not None:
                frame = frame.f_back
            if device_type in (None, "GPU") and flow.recording.sites.is_user(frame.f_code.co_filename):
                flow.note("asks which GPUs there are", flow.recording.sites.current())
        with PASSING:
            return original(self, device_type)

    setattr(owner, name, asked)
