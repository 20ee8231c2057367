"""Reads a variable for the recorder itself: no op callback, tape or scope of the program gets to know."""

from __future__ import annotations

from typing import Any

from ..trace.drift import MOST_ELEMENTS
from ..trace.guard import is_own


def first_elements(handle: Any, dtype: Any, elements: int) -> Any:
    """The first elements of a variable as numpy has them, flat; None where it can't be read.

    Waits for the variable's device. `elements` are all that the variable has.
    """
    from tensorflow.python.eager import context
    from tensorflow.python.ops import gen_array_ops, gen_resource_variable_ops

    ctx = context.context()
    callbacks = ctx.op_callbacks
    told, callbacks[:] = list(callbacks), []  # C code asks this very list
    try:
        with _no_tape():
            value = gen_resource_variable_ops.read_variable_op(handle, dtype)
            if elements > MOST_ELEMENTS:
                with ctx.device(handle.device):
                    flat = gen_array_ops.reshape(value, [-1])
                    value = gen_array_ops._slice(flat, [0], [MOST_ELEMENTS])
        # A host's tensor lends its own memory, which the next update would have to copy first.
        return value._numpy_internal().reshape(-1).copy()
    except Exception as error:
        if not is_own(error):
            raise
        return None
    finally:
        callbacks[:] = told


def _no_tape() -> Any:
    try:
        from tensorflow.python.eager import record
    except ImportError:  # where it was until 2.12
        from tensorflow.python.eager import tape as record
    return record.stop_recording()
