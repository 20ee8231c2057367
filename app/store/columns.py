"""Arrow columns and limits of a trace's records, from their declaration in probes/trace/schema.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import pyarrow as pa

from probes.trace.schema import Unit


def columns(record: type) -> list[tuple[str, pa.DataType]]:
    """Return the name and the Arrow type of each field of a dataclass of numbers and texts."""
    return [(name, arrow_type(hint)) for name, hint in get_type_hints(record).items()]


def arrow_type(hint: Any) -> pa.DataType:
    """Return the Arrow type of a number's or a text's type hint, which may be Optional."""
    return pa.int64() if int in (hint, *get_args(hint)) else pa.string()


def limits(record: type) -> dict[str, int]:
    """Return what each number of a record must stay below, by its field's name."""
    hints = get_type_hints(record, include_extras=True)
    units = {name: unit_of(hint) for name, hint in hints.items()}
    return {name: unit.below for name, unit in units.items() if unit is not None and unit.below is not None}


def nullable(record: type) -> frozenset[str]:
    """Return the names of the fields that may be null."""
    return frozenset(name for name, hint in get_type_hints(record).items() if type(None) in get_args(hint))


def fields_by_name(declared: Mapping[Any, type]) -> dict[str, Any]:
    """Return the type hint of every field that any of these types has; equal names have equal types."""
    return {name: hint for fields in declared.values() for name, hint in get_type_hints(fields).items()}


def unit_of(hint: Any) -> Unit | None:
    """Return the unit of a type hint that still has its annotations; None for one without."""
    parts = (*getattr(hint, "__metadata__", ()), *get_args(hint))
    found = (part if isinstance(part, Unit) else unit_of(part) for part in parts)
    return next((unit for unit in found if unit is not None), None)
