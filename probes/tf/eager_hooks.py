"""Where the recorder of eager ops is called from: op callbacks in every thread, conversions, copies."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from ..trace.frames import PASSING, drop_frame, stands_for
from ..trace.recording import Recording
from .eager import EagerOps
from .functions import Functions
from .marks import UNRECORDED, noted
from .marks import mark as mark_of
from .observed import EXACT

_NUMBERS = (int, float, bool)
_COPIES = ("cpu", "gpu")
"""Methods of a tensor that copy it."""


def install(recording: Recording, functions: Functions) -> None:
    """Add the op callback in this thread and in every thread that starts from now on."""
    from tensorflow.python.framework import op_callbacks

    eager_ops = EagerOps(recording, functions)
    if recording.whole and os.environ.get(EXACT) != "1":
        recording.windows.allow()
    _without_a_frame(functions.called)
    op_callbacks.add_op_callback(eager_ops)
    _in_threads(eager_ops)
    _in_python_functions(functions, eager_ops)
    _conversions(eager_ops)
    _copies(eager_ops)


def _without_a_frame(called: set[str]) -> None:
    """Once there is a callback, TensorFlow executes by a function of its own: keep that off tracebacks.

    `called` has the op types of calls of traced functions.
    """
    from tensorflow.python.eager import context, execute

    others: list[Any] = []
    """The program's own callbacks, ever."""
    add = context.Context.add_op_callback

    @stands_for(add)
    def add_op_callback(self: Any, callback: Any) -> None:
        if not isinstance(callback, EagerOps):
            others.append(callback)
        with PASSING:
            add(self, callback)

    context.Context.add_op_callback = add_op_callback
    run: Any = execute.quick_execute

    @stands_for(execute.execute_with_callbacks)
    def execute_with_callbacks(
        op_name: Any, num_outputs: Any, inputs: Any, attrs: Any, ctx: Any, name: Any = None
    ) -> Any:
        try:
            tensors = run(op_name, num_outputs, inputs, attrs, ctx, name)
        except BaseException as error:
            drop_frame(error)
            raise
        if op_name in called and not others:  # the recorder looks at calls of functions elsewhere
            return tensors
        for callback in ctx.op_callbacks:
            callback(op_name, tuple(inputs), attrs, tensors, name)
        return tensors

    execute.execute_with_callbacks = execute_with_callbacks


def _in_threads(eager_ops: EagerOps) -> None:
    from tensorflow.python.eager import context

    identify = threading.Thread._set_ident  # type: ignore[attr-defined]  # private
    guard = eager_ops.recording.guard("eager ops of a thread")

    # The first thing that a thread does, and over when the program's own code runs: no frame below that.
    @stands_for(identify)
    def _set_ident(thread: threading.Thread) -> None:
        identify(thread)
        with guard:
            context.context().add_op_callback(eager_ops)

    threading.Thread._set_ident = _set_ident  # type: ignore[attr-defined]  # private


def _in_python_functions(functions: Functions, eager_ops: EagerOps) -> None:
    """tf.py_function runs in the runtime's own threads, on tensors that the runtime made.

    On a GPU these say so; one CPU device's all say that they are the first one's, so it is looked up.
    """
    from tensorflow.python.eager import context
    from tensorflow.python.ops import script_ops
    from tensorflow.python.util import compat, nest

    call = script_ops.EagerFunc.__call__
    guard = eager_ops.recording.guard("what tf.py_function is given")

    @stands_for(call)
    def call_recorded(self: Any, device: Any, token: Any, args: Any) -> Any:
        with guard:
            context.context().add_op_callback(eager_ops)
            handed, name = functions.handed, compat.as_bytes(token)
            home = None if device else handed.home(name)
            mark = mark_of("EagerPyFunc", handed.line(name), "", home.asked if home is not None else "")
            for tensor in nest.flatten(args):
                if noted(tensor, "_hopscope") is None:
                    tensor._hopscope = mark
                if home is not None:
                    tensor._hopscope_home = home
        with PASSING:
            return call(self, device, token, args)

    script_ops.EagerFunc.__call__ = call_recorded


def _conversions(eager_ops: EagerOps) -> None:
    from tensorflow.python.framework import constant_op

    convert = constant_op.convert_to_eager_tensor
    guard, windows = eager_ops.recording.guard("data that becomes tensors"), eager_ops.recording.windows
    amount = windows.amount()

    @stands_for(convert)
    def convert_to_eager_tensor(value: Any, ctx: Any, dtype: Any = None) -> Any:
        try:
            tensor = convert(value, ctx, dtype)
        except BaseException as error:
            drop_frame(error)
            raise
        # A Python number's tensor is kept by TensorFlow and seen where it is first used; it is also the
        # hot case, so nothing more is done for it here.
        if type(value) not in _NUMBERS and noted(tensor, "_hopscope") is None:
            with guard:
                amount.now += 1
                if windows.paused and amount.now <= amount.most:
                    tensor._hopscope = UNRECORDED
                else:
                    windows.resume()
                    eager_ops.converted(tensor, value)
        return tensor

    constant_op.convert_to_eager_tensor = convert_to_eager_tensor


def _copies(eager_ops: EagerOps) -> None:
    """``tensor.cpu()`` and ``tensor.gpu()`` copy without an op."""
    from tensorflow.python.framework import ops

    base: Any = getattr(ops, "_EagerTensorBase", None) or ops.EagerTensor.__mro__[1]
    copy = base._copy
    guard = eager_ops.recording.guard("copies by methods of tensors")

    @stands_for(copy)
    def _copy(self: Any, ctx: Any = None, device_name: Any = None) -> Any:
        with PASSING:
            made = copy(self, ctx, device_name)
        caller = sys._getframe(1).f_code.co_name
        with guard:
            eager_ops.copied(self, made, f"{caller}()" if caller in _COPIES else "copy")
        return made

    base._copy = _copy
