"""What the fields of a trace's records may hold: readers rely on it, whatever wrote or damaged the trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args, get_origin, is_typeddict

from app.store.columns import fields_by_name
from app.store.ids import LOW
from probes.trace.schema import IDENTIFYING, KINDS
from runners.printable import encodable
from runners.runs.run_fields import MOST_WHOLE

Check = Callable[[Any], object]
"""Raises ValueError for a value of another type."""


def integer(value: Any) -> int:
    """The value; ValueError where it is no integer of 64 bits. True and False are none either."""
    if type(value) is not int or not -MOST_WHOLE <= value < MOST_WHOLE:
        raise ValueError(value)
    return value


def identifier(value: Any) -> int:
    """A process's own id; ValueError where it is none: 0, or too large for its half of the run's ids."""
    if not 0 < integer(value) <= LOW:
        raise ValueError(value)
    return int(value)


def text(value: Any) -> str:
    """The value, which can be encoded as UTF-8 after that; ValueError where it is no text."""
    if not isinstance(value, str):
        raise ValueError(value)
    return encodable(value)


def truth(value: Any) -> bool:
    """The value; ValueError where it is neither true nor false."""
    if not isinstance(value, bool):
        raise ValueError(value)
    return value


def mapping(value: Any) -> dict[str, Any]:
    """The value; ValueError where it is no JSON object."""
    if not isinstance(value, dict):
        raise ValueError(value)
    return value


def check_fields(kind: str, fields: dict[str, Any]) -> None:
    """Raise ValueError where a field that readers rely on is of another type, or missing.

    None is allowed for all but those without which a key of its kind means nothing.
    """
    for needed in IDENTIFYING.get(kind, ()):
        integer(fields.get(needed))
    for name, value in fields.items():
        check = _CHECKS.get(name)
        if check is not None and value is not None:
            check(value)


def _list_of(check: Check) -> Check:
    def check_list(value: Any) -> None:
        if not isinstance(value, list):
            raise ValueError(value)
        for part in value:
            check(part)

    return check_list


def _check_of(hint: Any) -> Check:
    """The check of a declared type; of an object only that it is one."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_typeddict(hint):
        return mapping
    (inner,) = (part for part in get_args(hint) if part is not type(None))
    return _list_of(_check_of(inner)) if get_origin(hint) is list else _check_of(inner)


_PLAIN: dict[Any, Check] = {int: integer, str: text, bool: truth}
_CHECKS = {name: _check_of(hint) for name, hint in fields_by_name(KINDS).items()}
"""By the name of a field, whatever the kind of its key."""
