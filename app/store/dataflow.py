"""What a pre-flight noted in a run's folder: a file a process."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from probes.trace.preflight_notes import Flow
from runners.printable import printable
from runners.runs import run_files
from runners.runs.run_fields import plain

FOLDER = "dataflow"
_KERNELS_NAME = "kernels.json.gz"


def read_dataflow(run: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the notes of each process of a run, and why some cannot be read, one line each."""
    notes: list[dict[str, Any]] = []
    problems: list[str] = []
    try:
        names = run_files.names(run, FOLDER)
    except OSError:
        return notes, problems
    for name in names:
        if not name.endswith(".json"):
            continue
        try:
            data = json.loads(run_files.read_file(run, f"{FOLDER}/{name}"))
            if not isinstance(data, dict):
                raise ValueError("it is no object")
            notes.append(plain(data)[0])
        except OSError as error:
            problems.append(f"{printable(name)} cannot be read: {error.strerror}")
        except (ValueError, RecursionError) as error:
            problems.append(f"{printable(name)} cannot be read: {error}")
    return notes, problems


def own_kernels(run: Path) -> Path | None:
    """The kernel table that the run's own TensorFlow wrote; None where it wrote none."""
    return run / FOLDER / _KERNELS_NAME if run_files.is_file(run, f"{FOLDER}/{_KERNELS_NAME}") else None


def parse_flow(data: Mapping[str, Any]) -> Flow:
    """The notes of a process; KeyError, TypeError or ValueError where they are not what they should be."""
    records = [{**one, "number": number} for number, one in enumerate(data["records"])]
    flow: Flow = _decoded(Flow, {**data, "records": records})
    return flow


def _decoded(kind: Any, data: Any) -> Any:
    """JSON data as a value of a type: a record from an object, or from a list in the order of its fields."""
    origin, parts = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        fields = _fields(kind)  # type: ignore[arg-type]  # a class: no instance gets here
        known = data if isinstance(data, dict) else dict(zip(fields, data, strict=True))
        given = {name: _decoded(of, known[key]) for key, (name, of) in fields.items() if key in known}
        return kind(**given)  # type: ignore[operator]  # the same
    if origin is Union:
        return None if data is None else _decoded(parts[0], data)
    if origin is abc.Mapping:
        return {_decoded(parts[0], key): _decoded(parts[1], value) for key, value in data.items()}
    if origin is not None:
        each = parts if origin is tuple and parts[-1] is not ... else parts[:1] * len(data)
        found = [_decoded(of, one) for of, one in zip(each, data, strict=True)]
        return found if origin is list else tuple(found)
    return data if kind is Any else kind() if data is None else kind(data)


@functools.cache
def _fields(kind: Any) -> dict[str, tuple[str, Any]]:
    """The name that each field of a record has in JSON -> its own, and its type."""
    hints = get_type_hints(kind)
    return {
        str(field.metadata.get("name", field.name)): (field.name, hints[field.name])
        for field in dataclasses.fields(kind)
    }
