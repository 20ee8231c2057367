"""Prints docs/trace-format.md, made of what probes/trace/schema.py declares.

python -m benchmarks.trace_format > docs/trace-format.md
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints, is_typeddict

from app.store.columns import unit_of
from probes.trace import schema

HEAD = """# The format of a trace

Generated from `probes/trace/schema.py` by `python -m benchmarks.trace_format`; do not edit.

A recorded process leaves `NAME.jsonl`, one JSON array a line: a tag, then the fields of its record in order.
`NAME.counts` holds exact numbers of executions by key. `probes/trace/writer.py` says how both survive a kill.

Ids are dense from 1 within one process's trace. Times are nanoseconds of the monotonic clock since the
header's `mono_ns`. A device is named `gpu:0`, and `worker:1/gpu:0` where it is another process's.
"""
_NAMES = {int: "integer", str: "text", bool: "boolean", Any: "any"}


class Declared(NamedTuple):
    """A class of the schema as its source has it."""

    doc: str
    bases: list[str]
    fields: dict[str, str]
    """What each field means."""


def main() -> None:
    """Print the page."""
    sys.stdout.write(page())


def page() -> str:
    """The whole page in Markdown."""
    declared = dict(_declared())
    parts = [HEAD, "## Records\n"]
    for tag, record in schema.RECORDS.items():
        parts.append(_section(f"`{tag}`: {record.__name__.lower()}", record, declared))
    parts.append("## Keys\n\nThe fields of a K record, by its kind.\n")
    for kind, fields in schema.KINDS.items():
        parts.append(_section(f"`{kind}`", fields, declared))
    parts.append(_section("Facts of a hop", schema.HopFacts, declared))
    parts.append("## Facts of a process\n\nThe objects of H and I records.\n")
    for title, fields in (
        ("Format", schema.FormatFacts),
        ("Header", schema.HeaderFacts),
        ("Later facts", schema.LaterFacts),
        ("Facts of a device", schema.DeviceFacts),
        ("Host copy", schema.HostCopy),
        ("Pre-flight", schema.Preflight),
    ):
        parts.append(_section(title, fields, declared))
    return "\n".join(parts)


def _section(title: str, fields: type, declared: dict[str, Declared]) -> str:
    meanings = _meanings(fields.__name__, declared)
    required = getattr(fields, "__required_keys__", frozenset(meanings))
    rows = ["| field | type | unit | meaning |", "|---|---|---|---|"]
    for name, hint in get_type_hints(fields, include_extras=True).items():
        absent = "" if name in required else ", optional"
        rows.append(f"| `{name}` | {_type(hint)}{absent} | {_unit(hint)} | {meanings[name]} |")
    table = "\n".join(rows)
    return f"### {title}\n\n{_flat(declared[fields.__name__].doc)}\n\n{table}\n"


def _type(hint: Any) -> str:
    if hint in _NAMES:
        return _NAMES[hint]
    if is_typeddict(hint):
        return "object"
    inner = [part for part in get_args(hint) if part is not type(None)]
    if hasattr(hint, "__metadata__"):
        return _type(inner[0])
    match get_origin(hint):
        case _ if get_origin(hint) is Union:
            null = " or null" if len(inner) < len(get_args(hint)) else ""
            return " or ".join(_type(part) for part in inner) + null
        case kind if kind is list:
            return f"list of {_type(inner[0])}"
        case _:
            return "object" if Any in inner else f"object of {_type(inner[-1])}"


def _unit(hint: Any) -> str:
    unit = unit_of(hint)
    if unit is None:
        return ""
    return unit.text if unit.below is None else f"{unit.text}, < 2^{unit.below.bit_length() - 1}"


def _meanings(name: str, declared: dict[str, Declared]) -> dict[str, str]:
    """What each field means, those of the bases first."""
    one = declared.get(name)
    if one is None:
        return {}
    return {key: text for base in one.bases for key, text in _meanings(base, declared).items()} | one.fields


def _declared() -> Iterator[tuple[str, Declared]]:
    body = ast.parse(inspect.getsource(schema)).body
    for statement, after in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.ClassDef(name=name, bases=bases):
                doc = ast.get_docstring(statement) or ""
                yield name, Declared(doc, [ast.unparse(base) for base in bases], _fields(statement.body))
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(args=[_, ast.Dict(keys=[ast.Constant(value=field)])]),
            ):
                yield name, Declared("", [], {str(field): _text(after)})


def _fields(body: list[ast.stmt]) -> dict[str, str]:
    return {
        statement.target.id: _text(after)
        for statement, after in zip(body, [*body[1:], None], strict=True)
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }


def _text(statement: ast.stmt | None) -> str:
    """The text that stands below a declaration."""
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return _flat(text).replace("|", "\\|")
        case _:
            return ""


def _flat(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


if __name__ == "__main__":
    main()
