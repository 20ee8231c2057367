"""What a trace's header may hold, checked where it is read: all other code relies on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

from app.store.columns import fields_by_name
from probes.trace.schema import FACTS
from runners.runs import run_fields
from runners.runs.run_fields import Check, is_text, is_whole, list_of, mapping_of, record


def header_fields(header: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A header, or facts that came later, without fields of a wrong type, and the names of those.

    Nothing at all where it is nested too deeply.
    """
    try:
        made, odd = run_fields.plain(dict(header))
    except ValueError:
        return {}, ["nested too deeply"]
    made, wrong = run_fields.typed(_FIELDS, made)
    return made, [*wrong, *([odd] if odd else [])]


def _check_of(hint: Any) -> Check:
    """The check of a declared type."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if is_typeddict(hint):
        return record(**{name: _check_of(part) for name, part in get_type_hints(hint).items()})
    inner = _check_of(next(part for part in reversed(get_args(hint)) if part is not type(None)))
    containers: dict[Any, Any] = {list: list_of, dict: mapping_of}
    return containers[get_origin(hint)](inner) if get_origin(hint) in containers else inner


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


_PLAIN: dict[Any, Check] = {str: is_text, int: is_whole, bool: _is_truth}
_FIELDS: Mapping[str, Check] = {
    **{name: _check_of(hint) for name, hint in fields_by_name(FACTS).items()},
    # As a run's spec has it.
    "device_map": run_fields.DEVICES,
}
