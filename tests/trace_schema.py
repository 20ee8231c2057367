"""What a trace has that probes/trace/schema.py does not declare: fields, kinds and types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from app.store.columns import unit_of
from probes.trace import schema


def undeclared(run: Path) -> list[str]:
    """What is wrong in the traces of a run's folder, each thing once."""
    found: dict[str, None] = {}
    for file in sorted((run / "trace").glob("*.jsonl")):
        whole = file.read_bytes().partition(b"\0")[0]
        for line in whole.splitlines(keepends=True):
            if line.endswith(b"\n"):
                found |= dict.fromkeys(of_record(json.loads(line)))
    return list(found)


def of_record(row: list[Any]) -> Iterator[str]:
    """What is wrong with one record."""
    tag, *values = row
    record = schema.RECORDS.get(tag)
    if record is None or len(row) != schema.length(tag):
        yield f"{tag}: a record of {len(row)} items"
        return
    if tag == "G":
        values = [values[0], *values[1].values()]
    hints = get_type_hints(record, include_extras=True)
    for (name, hint), value in zip(hints.items(), values, strict=True):
        unit = unit_of(hint)
        interned = unit is not None and unit.text == schema.INTERNED.text
        yield from _wrong(f"{tag}.{name}", value, int if interned else hint)
    match tag:
        case "K" if row[2] in schema.KINDS:
            yield from _wrong(row[2], row[3], schema.KINDS[row[2]])
        case "K":
            yield f"K: a key of kind {row[2]}"
        case "H":
            # A role or rank that the header has as null may become known later.
            yield from _fields("H", row[2], (schema.LaterFacts, schema.HeaderFacts, schema.FormatFacts))
        case "I":
            yield from _fields("I", row[2], (schema.LaterFacts,))


def _fields(where: str, value: Any, declared: tuple[type, ...]) -> Iterator[str]:
    """What is wrong with an object that has the fields of all these."""
    if not isinstance(value, dict):
        yield f"{where}: {type(value).__name__}, not an object"
        return
    hints = {name: hint for one in declared for name, hint in get_type_hints(one).items()}
    for one in declared:
        for name in getattr(one, "__required_keys__", ()):
            if name not in value:
                yield f"{where}.{name} is missing"
    for name, part in value.items():
        if name not in hints:
            yield f"{where}.{name} is not declared"
        else:
            yield from _wrong(f"{where}.{name}", part, hints[name])


def _wrong(where: str, value: Any, hint: Any) -> Iterator[str]:
    if hint is Any:
        return
    if is_typeddict(hint):
        yield from _fields(where, value, (hint,))
        return
    inner = get_args(hint)
    if hasattr(hint, "__metadata__"):
        yield from _wrong(where, value, inner[0])
        return
    kind = get_origin(hint)
    if kind in (Union, UnionType):
        if not any(not list(_wrong(where, value, part)) for part in inner):
            yield f"{where}: {type(value).__name__}"
    elif kind is list and isinstance(value, list):
        for part in value:
            yield from _wrong(f"{where}[]", part, inner[0])
    elif kind is dict and isinstance(value, dict):
        for part in value.values():
            yield from _wrong(f"{where}{{}}", part, inner[1])
    elif type(value) is not (kind or hint):
        yield f"{where}: {type(value).__name__}"
