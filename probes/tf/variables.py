"""Names variables' handles: the runtime knows eager ones only by a random number.

Notes too which variables a strategy keeps in one place for all its replicas: where they are made is its
choice, not that of a device scope.
"""

from __future__ import annotations

from typing import Any

from ..trace.recording import Recording
from .marks import mark as mark_of

_CENTRAL = ("CentralStorageStrategy", "ParameterServerStrategy")
_kept_by: dict[str, str] = {}


def kept_by(name: str) -> str:
    """The strategy that keeps the variable of this name in one place; '' where none does."""
    return _kept_by.get(name, "")


def install(recording: Recording) -> None:
    """Wrap the function that makes every resource variable's handle."""
    from tensorflow.python.distribute import distribute_lib
    from tensorflow.python.ops import resource_variable_ops

    make = resource_variable_ops._variable_handle_from_shape_and_dtype

    def make_named(shape: Any, dtype: Any, shared_name: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        handle = make(shape, dtype, shared_name, name, *args, **kwargs)
        mark = getattr(handle, "_hopscope", None)
        if name:
            strategy = type(distribute_lib.get_strategy()).__name__ if distribute_lib.has_strategy() else ""
            central = next((known for known in _CENTRAL if strategy.startswith(known)), "")
            # Names are not unique in eager code: one that others have too tells nothing.
            plain = str(name).rstrip("/")
            if _kept_by.setdefault(plain, central) != central:
                _kept_by[plain] = ""
        if mark is not None and name:
            handle._hopscope = mark_of(mark[0], mark[1], str(name).rstrip("/"), *mark[3:])
        return handle

    resource_variable_ops._variable_handle_from_shape_and_dtype = make_named
