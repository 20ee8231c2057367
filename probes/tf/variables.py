"""Names variables' handles: the runtime knows eager ones only by a random number.

Notes too which call in the user's code made the object that each is of, as its `__init__` makes several,
and which variables a strategy keeps in one place for all its replicas: where they are made is its choice,
not that of a device scope.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Optional

from ..trace.frames import PASSING, stands_for
from ..trace.recording import Recording
from ..trace.schema import HopFields
from ..trace.sites import COMPREHENSIONS, Sites
from .marks import Mark, noted
from .marks import mark as mark_of

_CENTRAL = ("CentralStorageStrategy", "ParameterServerStrategy")
_kept_by: dict[str, str] = {}
_made: dict[Mark, dict[int, Mark]] = {}
"""Mark of a variable's handle -> the calls that such variables were made by, each with a mark of its own."""
_calls: dict[int, int] = {}
"""By the id of such a mark: its call."""
_several: set[Mark] = set()
"""Marks that more than one variable has: a line in a function or a loop makes them."""
_values: dict[tuple[int, Mark], Mark] = {}
_kept: list[Mark] = []
"""Marks whose ids stand for them."""
_handles: dict[int, Mark] = {}
"""By the id of the mark of a variable's value: the mark of its handle."""


def kept_by(name: str) -> str:
    """The strategy that keeps the variable of this name in one place; '' where none does."""
    return _kept_by.get(name, "")


def value_of(handle: Mark, read: Mark) -> Mark:
    """The mark of what a read gets: it has the variable's name, which others may have, so one for each."""
    known = _values.get((id(handle), read))
    if known is None:
        # Not the one mark of these facts, but equal to it.
        known = _values[(id(handle), read)] = (read[0], read[1], handle[2], read[3], read[4])
        _handles[id(known)] = handle
        _kept.append(handle)
    return known


def handle_of(value: Mark) -> Optional[Mark]:
    """The mark of the handle of the variable that this value was read of; None of others."""
    return _handles.get(id(value))


def note_creation(fields: HopFields, handle: Optional[Mark]) -> None:
    """Add to a hop's fields at which line the variable of a handle was made, and by a call at which."""
    calls = _made.get(handle) if handle is not None else None
    if handle is None or calls is None:
        return
    # Of a mark that only equals one of several it is not known which call it is of.
    call = _calls.get(id(handle), next(iter(calls)) if len(calls) == 1 else 0)
    fields["variable_loc"] = handle[1]
    fields["variable_call_loc"] = call
    if handle not in _several:
        fields["variable_alone"] = 1


def _by_call(facts: Mark, call: int) -> Mark:
    """The mark of the variables of these facts that one call made: the first call's is the facts' own."""
    calls = _made.setdefault(facts, {})
    known = calls.get(call)
    if known is None:
        other = (facts[0], facts[1], facts[2], facts[3], facts[4])
        known = calls[call] = other if calls else facts
        _calls[id(known)] = call
    return known


def _call_of(sites: Sites) -> int:
    """The location that made the object which the innermost function of the user's sets up; 0 of others."""
    frame: Optional[FrameType] = sys._getframe(1)
    depth, made = 1, None
    while frame is not None:
        if sites.is_user(frame.f_code.co_filename) and frame.f_code.co_name not in COMPREHENSIONS:
            set_up = _set_up(frame)
            if made is not None and set_up is not made:
                return sites.current(depth)
            if set_up is None:
                return 0
            made = set_up
        frame, depth = frame.f_back, depth + 1
    return 0


def _set_up(frame: FrameType) -> Any:
    """The object whose `__init__` runs in a frame; None for other functions."""
    code = frame.f_code
    itself = code.co_varnames[0] if code.co_name == "__init__" and code.co_argcount else ""
    return frame.f_locals.get(itself)


def install(recording: Recording) -> None:
    """Wrap the function that makes every resource variable's handle."""
    from tensorflow.python.distribute import distribute_lib
    from tensorflow.python.ops import resource_variable_ops

    guard = recording.guard("variables")
    make = resource_variable_ops._variable_handle_from_shape_and_dtype

    @stands_for(make)
    def make_named(shape: Any, dtype: Any, shared_name: Any, name: Any, *args: Any, **kwargs: Any) -> Any:
        with PASSING:
            handle = make(shape, dtype, shared_name, name, *args, **kwargs)
        with guard:
            if name:
                named(handle, str(name).rstrip("/"))
        return handle

    def named(handle: Any, name: str) -> None:
        strategy = type(distribute_lib.get_strategy()).__name__ if distribute_lib.has_strategy() else ""
        central = next((known for known in _CENTRAL if strategy.startswith(known)), "")
        # Names are not unique in eager code: one that others have too tells nothing.
        if _kept_by.setdefault(name, central) != central:
            _kept_by[name] = ""
        mark = noted(handle, "_hopscope")
        if mark is not None:
            facts = mark_of(mark[0], mark[1], name, *mark[3:])
            if facts in _made:
                _several.add(facts)
            handle._hopscope = _by_call(facts, _call_of(recording.sites))

    resource_variable_ops._variable_handle_from_shape_and_dtype = make_named
