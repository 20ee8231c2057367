"""What the fields of a trace's records may hold: readers rely on it, whatever wrote or damaged the trace."""

from __future__ import annotations

from typing import Any

from app.store.ids import LOW
from runners.printable import encodable
from runners.runs.run_fields import MOST_WHOLE

_INTEGERS = frozenset(
    {
        "loc",
        "forward_loc",
        "producer_loc",
        "scope_loc",
        "producer_scope_loc",
        "scope_apart_loc",
        "producer_scope_apart_loc",
        "copy_loc",
        "made_loc",
        "origin_loc",
        "pulled_loc",
        "variables_loc",
        "variable_loc",
        "variable_call_loc",
        "variable_alone",
        "without_context_loc",
        "graph",
        "node",
        "bytes",
        "per_call",
        "payload_bytes",
        "wire_bytes",
        "parameters",
        "members",
    }
)
_TEXTS = frozenset(
    {
        "op",
        "device",
        "copied_from",
        "requested",
        "assigned",
        "producer_requested",
        "forward_requested",
        "src",
        "dst",
        "src_memory",
        "dst_memory",
    }
    | {
        "tensor",
        "producer",
        "producer_op",
        "dtype",
        "shape",
        "kind",
        "basis",
        "in",
        "function",
        "name",
        "what",
    }
    | {"without_context_op", "why", "algorithm", "group", "outcome", "parameter", "exchange", "within"}
    | {"from_nothing", "how"}
)
_LISTS_OF_TEXTS = frozenset({"consumers", "devices", "reads", "from_nothing_ops", "copied_from_too"})
_LISTS_OF_INTEGERS = frozenset({"variables_locs", "from_nothing_locs"})
_MAPPING = "facts"
_NEEDED = {"node": ("graph", "node")}


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


def mapping(value: Any) -> dict[str, Any]:
    """The value; ValueError where it is no JSON object."""
    if not isinstance(value, dict):
        raise ValueError(value)
    return value


def check_fields(kind: str, fields: dict[str, Any]) -> None:
    """Raise ValueError where a field that readers rely on is of another type, or missing.

    None is allowed for all but those without which a key of its kind means nothing.
    """
    for needed in _NEEDED.get(kind, ()):
        integer(fields.get(needed))
    for name, value in fields.items():
        if value is None:
            continue
        if name in _INTEGERS:
            integer(value)
        elif name in _TEXTS:
            text(value)
        elif name == _MAPPING:
            mapping(value)
        elif name in _LISTS_OF_TEXTS:
            if not isinstance(value, list):
                raise ValueError(value)
            for part in value:
                text(part)
        elif name in _LISTS_OF_INTEGERS:
            if not isinstance(value, list):
                raise ValueError(value)
            for part in value:
                integer(part)
