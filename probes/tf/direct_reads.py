"""Recognizes variables that were handed straight to an eager op: ``tf.nn.bias_add(x, variable)``.

TensorFlow's C code (`TFE_Py_FastPathExecute` in pywrap_tfe_src.cc) reads such a variable by itself, without
the op callback, so the value looks as if nobody made it, like Python data that the same code converts. The
generated function that called it still has the variable among its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import FrameType
from typing import Any

from .marks import Mark, noted
from .marks import mark as mark_of
from .variables import value_of

_GENERATED = "gen_"
"""How the files of generated functions begin; each hands its arguments to the C code itself."""
_is_variable: dict[type, bool] = {}


def mark_direct_reads(frame: FrameType, inputs: Sequence[Any], location: int, requested: str) -> None:
    """Mark those of an op's inputs that are values of variables; `frame` called the C code.

    A value is matched with a variable by device, type and shape, in the order of both.
    """
    name = frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
    if not name.startswith(_GENERATED):
        return
    found = list(_variables(frame.f_locals.values()))
    if not found:
        return
    for tensor in inputs:
        if noted(tensor, "_hopscope") is not None:
            continue
        for position, variable in enumerate(found):
            if _is_value(tensor, variable):
                tensor._hopscope = _mark(variable, location, requested, tensor.device)
                del found[position]
                break


def _variables(values: Iterable[Any], nested: bool = False) -> Iterator[Any]:
    """The variables among arguments and in lists of them; only these does the C code read by itself."""
    for value in values:
        kind = type(value)
        known = _is_variable.get(kind)
        if known is None:
            from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

            known = _is_variable[kind] = issubclass(kind, BaseResourceVariable)
        if known:
            yield value
        elif not nested and kind in (list, tuple):
            yield from _variables(value, True)


def _is_value(tensor: Any, variable: Any) -> bool:
    return bool(
        tensor.device == getattr(variable._handle, "device", None)
        and tensor.dtype == variable.dtype
        and variable.shape.is_compatible_with(tensor.shape)
    )


def _mark(variable: Any, location: int, requested: str, device: str) -> Mark:
    handle: Any = noted(variable._handle, "_hopscope")
    read = mark_of("ReadVariableOp", location, "", requested, device)
    return read if handle is None else value_of(handle, read)
