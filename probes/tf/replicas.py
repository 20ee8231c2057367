"""Compares towers' parameters between devices after 1, 2, 4, 8 .. updates of each, where nobody else does.

A distribution strategy keeps its replicas equal, so what is made in its scope is left out. Variables are
read through the runtime itself (peek.py), so that nothing of it is recorded as the program's doing.
Everything here costs something only where a line made variables of one shape on several devices.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.guard import is_own
from ..trace.recording import Recording
from ..trace.replica_sets import Copy
from ..trace.towers import Towers
from . import steps
from .function_notes import captures_of
from .functions import Functions
from .marks import noted
from .names import shape_text, short_device
from .peek import first_elements
from .returned import ReturnedGradients
from .writes import Touched, is_update, is_write, touched

_SETTINGS = (
    "momentum",
    "nesterov",
    "rho",
    "beta_1",
    "beta_2",
    "epsilon",
    "weight_decay",
    "clipnorm",
    "clipvalue",
)
_COPY = "_hopscope_copy"
"""Attribute of a variable's handle."""
_SOURCES = "_hopscope_sources"
"""Attribute of a graph: its tensors that gradients are asked for, by call."""
_NOTHING = Touched()


class Replicas:
    """The variables that may be replicas of each other."""

    def __init__(self, recording: Recording) -> None:
        """No variable was made yet."""
        self.recording = recording
        self._towers = Towers(recording, _settings)
        self.touched: dict[str, Touched] = {}
        self.idle: set[str] = set()
        """No call of these trains replicas, or writes to trained ones: all that they touch is captured."""
        self._captures: dict[str, int] = {}
        self.on = False
        """Some variables may be replicas of each other."""
        self.returned = ReturnedGradients(recording)
        self.followed: set[str] = set()
        """Functions whose calls matter."""
        self._failed = False

    def note(self, method: Callable[..., None], *args: Any) -> None:
        """Call something of the recorder's; the program's step must not fail by it."""
        try:
            method(*args)
        except Exception as error:
            if not is_own(error):
                raise
            self.on, self._failed = False, True
            self.followed.clear()
            why = f"they can't be compared: {type(error).__name__}: {error}"
            self.recording.unseen("replicas that grow apart", why)

    # -- what is made ------------------------------------------------------------------------------

    def variable(self, handle: Any, shape: Any, dtype: Any, name: Any) -> None:
        """A variable was made, eagerly: of a shape and type in any form that TensorFlow takes."""
        from tensorflow.python.distribute import distribute_lib
        from tensorflow.python.framework import dtypes, tensor_shape

        extents, kind = tensor_shape.as_shape(shape), dtypes.as_dtype(dtype)
        if extents.is_fully_defined() and kind.is_floating and not distribute_lib.has_strategy():
            self.made(handle, str(name or "").rstrip("/"), extents.as_list(), kind)

    def made(self, handle: Any, name: str, dims: Sequence[Optional[int]], dtype: Any) -> None:
        """A variable was made that may be a replica."""
        place = self.recording.sites.current(), shape_text(dims), dtype.name
        device, read = short_device(handle.device), _reader(handle, dtype, dims)
        copy = self._towers.made(*place, device, name, read)
        self.on = self.on or (len(copy.parameter.copies) > 1 and not self._failed)
        self.idle.clear()
        self._follow()
        setattr(handle, _COPY, copy)

    def traced(self, name: str, graph: Any) -> None:
        """A graph became a function of the runtime."""
        self.returned.traced(name, graph)
        found = touched(graph, getattr(graph, _SOURCES, ()), self.touched)
        if found != _NOTHING:
            self.touched[name] = found
            self._captures[name] = captures_of(graph)
        self._follow()

    def _follow(self) -> None:
        self.followed.clear()
        if self.on:
            self.followed.update(self.touched.keys() - self.idle, self.returned.outputs)

    # -- what is trained ---------------------------------------------------------------------------

    def differentiated(self, sources: Iterable[Any], eager: bool) -> None:
        """Gradients of these were asked for, all in one call; not yet applied."""
        copies = _copies(sources)
        for copy in copies:
            if not copy.trained:
                copy.trained = True
                self.idle.clear()
                self._follow()
            # Of one loss: they are parts of one model.
            copy.parameter.over |= sum(other.parameter is copy.parameter for other in copies) > 1
            if eager:
                _keep_first(copy)

    def calling(self, name: str, inputs: Sequence[Any]) -> None:
        """A traced function is about to run on these arguments."""
        if name not in self.touched or name in self.idle:
            return
        found = self.touched[name]
        first = len(inputs) - self._captures[name]
        trained = {index for call in found.differentiated for index in call}
        written = {write.argument for write in found.writes}
        if min(trained | written) >= first:
            copies = _copies(inputs[index] for index in written)
            if not any(copy.trained for copy in copies) and not _copies(inputs[index] for index in trained):
                self.idle.add(name)
                self._follow()
                return
        for call in found.differentiated:
            self.differentiated([inputs[index] for index in call if index < len(inputs)], True)
        for copy in _copies(inputs[write.argument] for write in found.writes if write.argument < len(inputs)):
            if copy.trained:
                _keep_first(copy)

    def called(self, name: str, inputs: Sequence[Any]) -> None:
        """It ran."""
        if name not in self.touched or name in self.idle:
            return
        for write in self.touched[name].writes:
            if write.argument < len(inputs):
                self.wrote(inputs[write.argument], write.update, write.loc)

    def wrote(self, handle: Any, update: bool, loc: int) -> None:
        """A variable got new values: by an update at `loc`, or any others."""
        copy = noted(handle, _COPY)
        if copy is not None and copy.trained:
            self._towers.wrote(copy, update, loc)


def _copies(handles: Iterable[Any]) -> list[Copy]:
    """Those of these variables that may be replicas."""
    found = (noted(handle, _COPY) for handle in handles)
    return [copy for copy in found if copy is not None and len(copy.parameter.copies) > 1]


def _keep_first(copy: Copy) -> None:
    if not copy.updates and not copy.values and not copy.parameter.over:
        copy.keep()


def _reader(handle: Any, dtype: Any, dims: Sequence[Optional[int]]) -> Any:
    elements = 1
    for extent in dims:
        elements *= extent or 0
    there = weakref.ref(handle)

    def read() -> Any:
        variable = there()
        return None if variable is None else first_elements(variable, dtype, elements)

    return read


def _settings(optimizer: Any) -> tuple[Any, ...]:
    from tensorflow.python.framework import dtypes

    rate: Any = getattr(optimizer, "_learning_rate", None)
    handle = getattr(rate, "handle", None)
    if handle is not None:
        value = first_elements(handle, dtypes.as_dtype(rate.dtype), 1)
        told = None if value is None else value.tolist()
    else:  # a schedule, or none
        parts = getattr(rate, "__dict__", {})
        told = [type(rate).__name__, {name: part for name, part in parts.items() if isinstance(part, float)}]
    return type(optimizer).__name__, told, *(getattr(optimizer, name, None) for name in _SETTINGS)


def install(recording: Recording, functions: Functions) -> None:
    """Hook the making of variables, gradients, and whatever writes to variables; to be called last."""
    replicas = Replicas(recording)
    _variables(replicas)
    _gradients(replicas)
    _functions(replicas, functions)
    _writers(replicas)


def _variables(replicas: Replicas) -> None:
    from tensorflow.python.framework import ops
    from tensorflow.python.ops import resource_variable_ops

    make = resource_variable_ops._variable_handle_from_shape_and_dtype

    @stands_for(make)
    def made(shape: Any, dtype: Any, shared_name: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            handle = make(shape, dtype, shared_name, name, *args, **kwargs)
        if isinstance(handle, ops.EagerTensor):
            replicas.note(replicas.variable, handle, shape, dtype, name)
        return handle

    resource_variable_ops._variable_handle_from_shape_and_dtype = made


def _gradients(replicas: Replicas) -> None:
    from tensorflow.python.eager import context, imperative_grad
    from tensorflow.python.framework import ops

    differentiate = imperative_grad.imperative_grad

    @stands_for(differentiate)
    def imperative_gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
        eager = context.executing_eagerly()
        if not eager:
            replicas.note(_note_sources, ops.get_default_graph(), sources)
        if replicas.on:
            replicas.note(replicas.differentiated, sources, eager)
        with PASSING:
            return differentiate(tape, target, sources, *args, **kwargs)

    imperative_grad.imperative_grad = imperative_gradient


def _note_sources(graph: Any, sources: Iterable[Any]) -> None:
    """A function that is being traced knows a variable by its handle and by a placeholder."""
    captures = getattr(getattr(graph, "function_captures", None), "by_val_internal", {})
    inside = [captures.get(id(source), source) for source in sources]
    setattr(graph, _SOURCES, [*getattr(graph, _SOURCES, ()), inside])


def _functions(replicas: Replicas, functions: Functions) -> None:
    from tensorflow.python.eager.polymorphic_function import atomic_function

    from_graph, call = atomic_function.from_func_graph, functions.call_followed

    def traced(made: Any, graph: Any) -> None:
        replicas.traced(made.name.decode(), graph)

    @stands_for(from_graph)
    def from_func_graph(name: Any, graph: Any, attrs: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            made = from_graph(name, graph, attrs, *args, **kwargs)
        replicas.note(traced, made, graph)
        return made

    def call_followed(ctx: Any, name: Any, tensor_inputs: Any, num_outputs: Any, text: str) -> Any:
        replicas.note(replicas.calling, text, tensor_inputs)
        with PASSING:
            outputs = call(ctx, name, tensor_inputs, num_outputs, text)
        replicas.note(replicas.called, text, tensor_inputs)
        replicas.note(replicas.returned.called, text, outputs or ())
        return outputs

    atomic_function.from_func_graph = from_func_graph
    functions.followed, functions.call_followed = replicas.followed, call_followed


def _writers(replicas: Replicas) -> None:
    """The generated functions of the ops that write to a variable: few call them, and not in the hot path."""
    from tensorflow.python.ops import gen_resource_variable_ops, gen_training_ops

    for module in (gen_resource_variable_ops, gen_training_ops):
        for name, function in list(vars(module).items()):
            op_type = "".join(map(str.title, name.split("_")))
            if callable(function) and is_write(op_type):
                setattr(module, name, _writing(replicas, function, op_type))


def _writing(replicas: Replicas, function: Any, op_type: str) -> Any:
    @stands_for(function)
    def written(*args: Any, **kwargs: Any) -> Any:
        with PASSING:
            result = function(*args, **kwargs)
        if replicas.on:
            given = args or (kwargs.get("resource", kwargs.get("var")), kwargs.get("value"))
            replicas.note(_written, replicas, op_type, given, result)
        return result

    return written


def _written(replicas: Replicas, op_type: str, given: Sequence[Any], result: Any) -> None:
    """An op's function returned; the first it was given is the variable's handle, while tracing too."""
    copy = noted(given[0], _COPY)
    if copy is None:
        return
    copy.optimizer = steps.optimizer_now() or copy.optimizer
    if result is None:  # in a graph what runs is the function
        mark = noted(given[1], "_hopscope") if len(given) > 1 else None
        update = steps.applying() or is_update(op_type, mark[0] if mark else "")
        replicas.wrote(given[0], update, replicas.recording.sites.current())
