"""Where the recorder of traced functions is called from."""

from __future__ import annotations

from typing import Any, Callable

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.recording import Recording, clock
from .functions import Functions
from .gradients import current as gradient
from .scopes import current as current_scope


def install(recording: Recording) -> Functions:
    """Hook op creation in graphs, the making of functions and their calls."""
    functions = Functions(recording)
    _of_graphs(recording, functions)
    _of_calls(recording, functions)
    return functions


def _of_graphs(recording: Recording, functions: Functions) -> None:
    from tensorflow.python.eager.polymorphic_function import atomic_function
    from tensorflow.python.framework import ops

    create = ops.Graph._create_op_internal
    windows, making = recording.windows, recording.guard("the making of graphs")

    @stands_for(create)
    def _create_op_internal(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            op = create(self, *args, **kwargs)
        except BaseException as error:
            drop_frame(error)
            raise
        with making:
            windows.resume()
            places = getattr(self, "_hopscope_ops", None)
            if places is None:
                places = self._hopscope_ops = {}
            forward = gradient.forward_loc, gradient.forward_requested
            places[op.name] = (recording.sites.current(), *forward, current_scope(), gradient.forward_op)
        return op

    ops.Graph._create_op_internal = _create_op_internal

    from_graph = atomic_function.from_func_graph

    @stands_for(from_graph)
    def from_func_graph(name: Any, graph: Any, attrs: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            made = from_graph(name, graph, attrs, *args, **kwargs)
        with making:
            functions.traced(made.name.decode(), graph, attrs)
        return made

    atomic_function.from_func_graph = from_func_graph


def _of_calls(recording: Recording, functions: Functions) -> None:
    from tensorflow.python.eager import context

    windows, calling = recording.windows, recording.guard("calls of functions")
    call = context.Context.call_function
    call_recorded = functions.call_followed = _recorded_call(recording, functions, call)

    @stands_for(call)
    def call_function(self: Any, name: Any, tensor_inputs: Any, num_outputs: Any) -> Any:
        text = name.decode() if isinstance(name, bytes) else name
        usual = functions.usual.get(text) if windows.paused else None
        if usual is None or text in functions.followed:
            call_so = functions.call_followed if text in functions.followed else call_recorded
            with PASSING:
                return call_so(self, name, tensor_inputs, num_outputs, text)
        outputs, start = None, clock()
        try:
            outputs = call(self, name, tensor_inputs, num_outputs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            dur = clock() - start
            with calling:
                functions.ran_as_usual(usual, outputs, start, dur)
        return outputs

    context.Context.call_function = call_function


def _recorded_call(
    recording: Recording, functions: Functions, call: Callable[..., Any]
) -> Callable[..., Any]:
    """A call that is recorded in full."""
    calling = recording.guard("calls of functions")

    def call_recorded(self: Any, name: Any, tensor_inputs: Any, num_outputs: Any, text: str) -> Any:
        running = outputs = None
        with calling:
            running = functions.begins(self, text, tensor_inputs)
        start = clock()
        try:
            outputs = call(self, name, tensor_inputs, num_outputs)
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            dur = clock() - start
            if running is not None:
                with calling:
                    functions.ended(running, outputs, start, dur)
        return outputs

    return call_recorded
