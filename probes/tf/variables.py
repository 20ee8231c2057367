"""Names variables' handles: the runtime knows eager ones only by a random number."""

from __future__ import annotations

from typing import Any

from ..trace.recording import Recording
from .marks import mark as mark_of


def install(recording: Recording) -> None:
    """Wrap the function that makes every resource variable's handle."""
    from tensorflow.python.ops import resource_variable_ops

    make = resource_variable_ops._variable_handle_from_shape_and_dtype

    def make_named(shape: Any, dtype: Any, shared_name: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        handle = make(shape, dtype, shared_name, name, *args, **kwargs)
        mark = getattr(handle, "_hopscope", None)
        if mark is not None and name:
            handle._hopscope = mark_of(mark[0], mark[1], str(name).rstrip("/"), *mark[3:])
        return handle

    resource_variable_ops._variable_handle_from_shape_and_dtype = make_named
