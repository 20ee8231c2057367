"""Knows, while a gradient is being computed, which line made the forward op it belongs to."""

from __future__ import annotations

import threading
from typing import Any, Callable

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.recording import Recording


class _Current(threading.local):
    loc = 0
    forward_loc = 0
    forward_requested = ""
    forward_op = ""
    """Its type, and behind it in parentheses its name where it has one: ``MatMul (dense/MatMul)``."""


current = _Current()
"""Of this thread: the line that asked for gradients, and the forward op whose gradient function runs now;
location 0 when none does."""


Forward = tuple[int, str, str]
"""Of a forward op: (location, requested device, name, '' where it has none)."""
forward_ops: dict[int, Forward] = {}
"""id of an op's attribute tuple -> what is known of the op.

The tape hands the very tuple that was recorded with the forward op back to the gradient function; a
tuple that has died and whose id is taken again is overwritten by the op that took it.
"""
_MOST = 500_000
_UNKNOWN: Forward = (0, "", "")


def _now() -> tuple[int, str, str]:
    return current.forward_loc, current.forward_requested, current.forward_op


def _set(location: int, requested: str, op: str) -> None:
    current.forward_loc, current.forward_requested, current.forward_op = location, requested, op


def forward_words(op_type: str, name: str) -> str:
    """The forward op as a gradient names it: by its type, and its name where that says more."""
    says_nothing = set(name.split("/")) <= {op_type, ""}
    return op_type if says_nothing else f"{op_type} ({name})"


def install(recording: Recording) -> None:
    """Wrap what asks for gradients, what notes forward ops, and what is called for each op's gradient."""

    def bound() -> None:
        if len(forward_ops) > _MOST:
            forward_ops.clear()

    recording.tickers.append(bound)
    _of_tapes(recording)
    _forward(recording)
    _of_functions(recording)
    _of_each_op(recording)


def _of_each_op(recording: Recording) -> None:
    """What TensorFlow's C++ tape calls."""
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.eager import backprop

    windows = recording.windows
    original: Callable[..., Any] = backprop._gradient_function

    @stands_for(original)
    def gradient_function(  # noqa: PLR0913 - the signature with which TensorFlow's C++ tape calls it
        op_name: Any,
        attr_tuple: Any,
        num_inputs: Any,
        inputs: Any,
        outputs: Any,
        out_grads: Any,
        skip_input_indices: Any,
        forward_pass_name_scope: Any,
    ) -> Any:
        before = None
        if not windows.paused:
            before = _now()
            location, requested, name = forward_ops.get(id(attr_tuple), _UNKNOWN)
            _set(location, requested, forward_words(op_name, name))
        try:
            return original(
                op_name,
                attr_tuple,
                num_inputs,
                inputs,
                outputs,
                out_grads,
                skip_input_indices,
                forward_pass_name_scope,
            )
        except BaseException as error:
            drop_frame(error)
            raise
        finally:
            if before is not None:
                _set(*before)

    backprop._gradient_function = gradient_function
    pywrap_tfe.TFE_Py_RegisterGradientFunction(gradient_function)


def _of_tapes(recording: Recording) -> None:
    """The line that asks for gradients."""
    from tensorflow.python.eager import imperative_grad

    guard, windows = recording.guard("lines of gradients"), recording.windows
    differentiate = imperative_grad.imperative_grad

    @stands_for(differentiate)
    def imperative_grad_located(*args: Any, **kwargs: Any) -> Any:
        before = current.loc
        with guard:
            current.loc = 0 if windows.paused else recording.sites.current()
        try:
            with PASSING:
                return differentiate(*args, **kwargs)
        finally:
            current.loc = before
            with guard:
                if recording.step is None:
                    # A loop without an optimizer takes a step with each gradient.
                    recording.passed(1)

    imperative_grad.imperative_grad = imperative_grad_located


def _forward(recording: Recording) -> None:
    """The lines of forward ops whose gradients are recorded."""
    from tensorflow.python.eager import execute

    record = execute.record_gradient

    @stands_for(record)
    def record_gradient(op_name: Any, inputs: Any, attrs: Any, outputs: Any) -> None:
        try:
            op = next((out.op for out in outputs if not hasattr(out, "_numpy_internal")), None)
            device, name = (op.device, op.name) if op is not None else ("", "")
            forward_ops[id(attrs)] = (recording.sites.current(), device, name)
        except Exception as error:  # noqa: BLE001 - the program's op must not fail by it
            recording.failed("lines of gradients", error)
        with PASSING:
            record(op_name, inputs, attrs, outputs)

    execute.record_gradient = record_gradient


def _of_functions(recording: Recording) -> None:
    """The gradient of a function that another one calls is made of its graph's ops, without a tape."""
    from tensorflow.python.ops import gradients_util

    compiled: Callable[..., Any] = gradients_util._MaybeCompile
    guard = recording.guard("lines of gradients")

    @stands_for(compiled)
    def _MaybeCompile(scope: Any, op: Any, func: Any, grad_fn: Any) -> Any:
        before = _now()
        with guard:
            places: dict[str, tuple[int, int, str, Any, str]] = getattr(op.graph, "_hopscope_ops", {})
            _set(places.get(op.name, (0,))[0], op.device, forward_words(op.type, op.name))
        try:
            with PASSING:
                return compiled(scope, op, func, grad_fn)
        finally:
            _set(*before)

    gradients_util._MaybeCompile = _MaybeCompile
