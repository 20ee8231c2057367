"""Where the recorder of eager ops is called from: op callbacks in every thread, conversions, copies."""

from __future__ import annotations

import sys
import threading
from typing import Any

from ..trace.recording import Recording
from .eager import EagerOps
from .functions import Functions
from .marks import mark as mark_of

_NUMBERS = (int, float, bool)
_COPIES = ("cpu", "gpu")
"""Methods of a tensor that copy it."""


def install(recording: Recording, functions: Functions) -> None:
    """Add the op callback in this thread and in every thread that starts from now on."""
    from tensorflow.python.framework import op_callbacks

    eager_ops = EagerOps(recording, functions)
    op_callbacks.add_op_callback(eager_ops)
    _in_threads(eager_ops)
    _in_python_functions(functions, eager_ops)
    _conversions(eager_ops)
    _copies(eager_ops)


def _in_threads(eager_ops: EagerOps) -> None:
    from tensorflow.python.eager import context

    bootstrap = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]
    guard = eager_ops.recording.guard("eager ops of a thread")

    def bootstrap_recorded(thread: threading.Thread) -> None:
        with guard:
            if getattr(thread, "_name", "") != "hopscope":
                context.context().add_op_callback(eager_ops)
        bootstrap(thread)

    threading.Thread._bootstrap_inner = bootstrap_recorded  # type: ignore[attr-defined]


def _in_python_functions(functions: Functions, eager_ops: EagerOps) -> None:
    """tf.py_function runs in the runtime's own threads, on tensors that the runtime made.

    On a GPU these say so; one CPU device's all say that they are the first one's, so it is looked up.
    """
    from tensorflow.python.eager import context
    from tensorflow.python.ops import script_ops
    from tensorflow.python.util import compat, nest

    call = script_ops.EagerFunc.__call__
    guard = eager_ops.recording.guard("what tf.py_function is given")

    def call_recorded(self: Any, device: Any, token: Any, args: Any) -> Any:
        with guard:
            context.context().add_op_callback(eager_ops)
            handed, name = functions.handed, compat.as_bytes(token)
            home = None if device else handed.home(name)
            mark = mark_of("EagerPyFunc", handed.line(name), "", home.asked if home is not None else "")
            for tensor in nest.flatten(args):
                if getattr(tensor, "_hopscope", None) is None:
                    tensor._hopscope = mark
                if home is not None:
                    tensor._hopscope_home = home
        return call(self, device, token, args)

    script_ops.EagerFunc.__call__ = call_recorded


def _conversions(eager_ops: EagerOps) -> None:
    from tensorflow.python.framework import constant_op

    convert = constant_op.convert_to_eager_tensor
    guard = eager_ops.recording.guard("data that becomes tensors")

    def convert_to_eager_tensor(value: Any, ctx: Any, dtype: Any = None) -> Any:
        tensor = convert(value, ctx, dtype)
        # A Python number's tensor is kept by TensorFlow and seen where it is first used; it is also the
        # hot case, so nothing more is done for it here.
        if type(value) not in _NUMBERS and getattr(tensor, "_hopscope", None) is None:
            with guard:
                eager_ops.converted(tensor, value)
        return tensor

    constant_op.convert_to_eager_tensor = convert_to_eager_tensor


def _copies(eager_ops: EagerOps) -> None:
    """``tensor.cpu()`` and ``tensor.gpu()`` copy without an op."""
    from tensorflow.python.framework import ops

    base: Any = getattr(ops, "_EagerTensorBase", None) or ops.EagerTensor.__mro__[1]
    copy = base._copy
    guard = eager_ops.recording.guard("copies by methods of tensors")

    def _copy(self: Any, ctx: Any = None, device_name: Any = None) -> Any:
        made = copy(self, ctx, device_name)
        caller = sys._getframe(1).f_code.co_name
        with guard:
            eager_ops.copied(self, made, f"{caller}()" if caller in _COPIES else "copy")
        return made

    base._copy = _copy
