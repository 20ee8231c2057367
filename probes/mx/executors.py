"""Records what `bind` and `simple_bind` make: Module's graphs, and graphs over several contexts.

MXNet tells the graph that it will run as text, with an op `_CrossDeviceCopy` wherever a tensor goes to
another context, but not the contexts. Ops with no copy between them share one, and of each such
group a member's context is known: an argument's, from its array, or that of the op's ctx_group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional

from ..trace.frames import drop_frame, stands_for
from ..trace.recording import Recording, clock
from .arrays import Arrays
from .bound_text import COPY, Written, places, read_debug_text
from .contexts import context_name
from .graphs import ARGUMENT, Op, PlacedGraph, Shape, internal_shapes
from .marks import Mark
from .symbols import SymbolSites

_SUMS = frozenset({"_sum", "add_n", "ElementWiseSum", "_grad_add", "elemwise_add", "_copy", "identity"})
"""Ops whose output has the extents of their first input."""


class Bound:
    """One executor in the trace; its backward part is written when it first runs."""

    def __init__(self, recording: Recording, arrays: Arrays, sites: SymbolSites, executor: Any) -> None:
        """Reads the executor's graph; raises nothing that a program would notice."""
        self._recording = recording
        self._sites = sites
        self._names = Names(executor)
        devices = {name: arrays.device(array.handle) for name, array in self._names.arrays.items()}
        groups = {name: context_name(ctx) for name, ctx in (executor._group2ctx or {}).items()}
        self._own = context_name(executor._ctx)
        written = read_debug_text(executor.debug_str())
        placed = places(written, devices, groups, self._own)
        self._ops = self._whole(written, placed, groups)
        self.graph: Optional[PlacedGraph] = None
        self._forward_hops: list[int] = []
        self._backward_hops: Optional[list[int]] = None

    def ran_forward(self, loc: int, start: int) -> None:
        """One forward call, asked for by the code at `loc`."""
        if self.graph is None:
            name = self._names.output
            dtype, size = self._names.dtype
            self.graph = PlacedGraph(self._recording, name, f"Executor of {name}", loc, size, dtype)
            self._forward_hops = self.graph.add([op for op in self._ops if not op.forward_loc])
        for key in self._forward_hops:
            self._recording.happened(key, "hop")
        self.graph.called(loc, start, clock() - start)

    def ran_backward(self, loc: int) -> None:
        """One backward call; its ops are at the line that asked for it."""
        if self.graph is None:
            return
        if self._backward_hops is None:
            part = [op for op in self._ops if op.forward_loc]
            for op in part:
                op.loc = loc
                op.forward_loc = max(op.forward_loc, 0)
            self._backward_hops = self.graph.add(part)
        for key in self._backward_hops:
            self._recording.happened(key, "hop")

    def _whole(
        self, written: list[Written], placed: Mapping[str, str], groups: Mapping[str, str]
    ) -> list[Op]:
        """The ops without the copies between them, with their outputs' extents and lines."""
        through = {item.name: item.inputs[0] for item in written if item.op == COPY}
        ops: dict[str, Op] = {}
        for item in written:
            if item.op == COPY:
                continue
            inputs = [_origin(producer, through) for producer in item.inputs]
            base = item.plain.removesuffix("_backward")
            backward = item.op.startswith("_backward") or item.plain.endswith("_backward")
            backward = backward or any(ops[name].forward_loc for name, _ in inputs if name in ops)
            asked = groups.get(item.group, "" if groups and item.op != "null" else self._own)
            line = self._sites.of(base if backward else item.name)
            op = Op(item.name, ARGUMENT if item.op == "null" else item.op, inputs, placed[item.name], asked)
            # A backward op's own line is known when it runs; until then -1 says that it is one.
            op.loc, op.forward_loc = (0, line or -1) if backward else (line, 0)
            op.shapes = self._shapes(item, base, inputs, ops)
            if not asked:
                near = (
                    name for name, _ in item.inputs if placed.get(name) == op.device and name not in through
                )
                op.beside = next(near, "")
            ops[item.name] = op
        return list(ops.values())

    def _shapes(
        self, item: Written, base: str, inputs: list[tuple[str, int]], ops: Mapping[str, Op]
    ) -> list[Shape]:
        known = self._names.shapes.get(item.name)
        if known is not None:
            return known
        forward = ops.get(base)
        if forward is not None and base != item.plain:
            # The outputs of an op's gradient are its inputs' gradients, in order.
            return [ops[name].shape(output) if name in ops else None for name, output in forward.inputs]
        if item.op in _SUMS and inputs and inputs[0][0] in ops:
            return [ops[inputs[0][0]].shape(inputs[0][1])]
        return []


class Names:
    """What an executor's symbol and arrays tell by name."""

    def __init__(self, executor: Any) -> None:
        """Asks MXNet to infer every extent from those of the bound arrays."""
        symbol = executor._symbol
        pairs = (
            *zip(symbol.list_arguments(), executor.arg_arrays),
            *zip(symbol.list_auxiliary_states(), executor.aux_arrays),
        )
        self.arrays: dict[str, Any] = {name: array for name, array in pairs if array is not None}
        self.output = symbol.name or ", ".join(symbol.list_outputs())
        first = next(iter(self.arrays.values()), None)
        self.dtype: tuple[str, int] = ("float32", 4)
        if first is not None:
            import numpy

            kind = numpy.dtype(first.dtype)
            self.dtype = (kind.name, kind.itemsize)
        found = internal_shapes(symbol, {name: array.shape for name, array in self.arrays.items()})
        self.shapes: dict[str, list[Shape]] = {
            **found,
            **{name: [array.shape] for name, array in self.arrays.items()},
        }


def _origin(producer: tuple[str, int], through: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    while producer[0] in through:
        producer = through[producer[0]]
    return producer


def install(
    recording: Recording, arrays: Arrays, sites: SymbolSites, refused: Callable[[str, Iterable[Any]], None]
) -> None:
    """Read each executor when it is made, and count its forward and backward calls.

    `refused` is told of a binding that raised, and what may be its contexts.
    """
    from mxnet import executor as executor_module
    from mxnet.symbol import symbol

    bound: dict[int, Bound] = {}
    heads: dict[int, list[Mark]] = {}
    guard = recording.guard("calls of executors")

    def made(executor: Any) -> None:
        loc = 0
        try:
            loc = recording.sites.current(2)
            bound[executor.handle.value] = Bound(recording, arrays, sites, executor)
        except Exception as error:  # noqa: BLE001 - the program goes on without this graph being seen
            recording.failed("graphs of executors", error)
        with guard:
            _count_memory(arrays, executor, loc)
            heads[executor.handle.value] = _heads(arrays, sites, executor)

    for name in ("bind", "_bind", "simple_bind", "_simple_bind"):
        _wrap_bind(symbol.Symbol, name, made, refused)
    _wrap_bind(executor_module.Executor, "reshape", made, refused)
    _wrap_calls(recording, arrays, bound, heads)


def _wrap_calls(
    recording: Recording, arrays: Arrays, bound: dict[int, Bound], heads: dict[int, list[Mark]]
) -> None:
    """Replace the C functions that run executors, by whose handles `bound` and `heads` know them."""
    from mxnet.base import _LIB

    lib: Any = _LIB
    guard = recording.guard("calls of executors")
    run_forward: Callable[..., int] = lib.MXExecutorForward
    run_backward: Callable[..., int] = lib.MXExecutorBackwardEx
    list_outputs: Callable[..., int] = lib.MXExecutorOutputs
    free: Callable[..., int] = lib.MXExecutorFree

    def MXExecutorForward(handle: Any, train: Any) -> int:
        start = clock()
        status = run_forward(handle, train)
        with guard:
            known = bound.get(handle.value)
            if known is not None and status == 0:
                known.ran_forward(recording.sites.current(), start)
            elif known is None and recording.late:
                recording.unseen("graphs of executors", "bound before the recorder came")
        return status

    def MXExecutorBackwardEx(handle: Any, *rest: Any) -> int:
        status = run_backward(handle, *rest)
        with guard:
            known = bound.get(handle.value)
            if known is not None and status == 0:
                known.ran_backward(recording.sites.current())
        return status

    def MXExecutorOutputs(handle: Any, count: Any, outputs: Any) -> int:
        status = list_outputs(handle, count, outputs)
        # What `byref` was given; each call makes new handles of the same arrays.
        with guard:
            for address, mark in zip(outputs._obj[: count._obj.value], heads.get(handle.value, ())):
                arrays.marks[address] = mark
        return status

    def MXExecutorFree(handle: Any) -> int:
        with guard:
            bound.pop(handle.value, None)
            heads.pop(handle.value, None)
        return free(handle)

    lib.MXExecutorForward = MXExecutorForward
    lib.MXExecutorBackwardEx = MXExecutorBackwardEx
    lib.MXExecutorOutputs = MXExecutorOutputs
    lib.MXExecutorFree = MXExecutorFree


def _wrap_bind(
    owner: Any, name: str, made: Callable[[Any], None], refused: Callable[[str, Iterable[Any]], None]
) -> None:
    from mxnet.base import MXNetError

    original = vars(owner).get(name)
    if original is None:
        return

    @stands_for(original)
    def bind(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            executor = original(self, *args, **kwargs)
        except BaseException as error:
            if isinstance(error, (MXNetError, RuntimeError)):
                refused(name, [*args[:1], kwargs.get("ctx")])
            drop_frame(error)
            raise
        made(executor)
        return executor

    setattr(owner, name, bind)


def _heads(arrays: Arrays, sites: SymbolSites, executor: Any) -> list[Mark]:
    """What made each output of a bound graph, and where it is."""
    names = [name.rpartition("_output")[0] or name for name in executor._symbol.list_outputs()]
    marks = []
    for array, name in zip(executor.outputs, names):
        device = arrays.device(array.handle)
        marks.append(Mark(name, sites.of(name), device, device))
        marks[-1].filled = True
        arrays.marks[array.handle.value] = marks[-1]
    return marks


def _count_memory(arrays: Arrays, executor: Any, loc: int) -> None:
    """The arrays of a bound graph are not made by ops; they count as memory all the same."""
    for array in (*executor.arg_arrays, *(executor.grad_arrays or ()), *executor.aux_arrays):
        if array is not None:
            arrays.written_unseen.add(array.handle.value)
            device = arrays.device(array.handle)
            size = arrays.mark(array.handle).bytes or arrays.size(array.handle)
            arrays.made(array.handle, Mark("Variable", loc, device, device, size, arrays.totals[device]))
