"""What a pre-flight noted in a run's folder: a file a process, read as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = "dataflow"
_KERNELS_NAME = "kernels.json.gz"


def read_dataflow(run: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the notes of each process of a run, and why some cannot be read, one line each."""
    notes: list[dict[str, Any]] = []
    problems: list[str] = []
    for path in sorted((run / FOLDER).glob("*.json")):
        try:
            data = json.loads(path.read_bytes())
            if not isinstance(data, dict):
                raise ValueError("it is no object")
        except (OSError, ValueError) as error:
            problems.append(f"{path.name} cannot be read: {error}")
            continue
        notes.append(data)
    return notes, problems


def own_kernels(run: Path) -> Path | None:
    """The kernel table that the run's own TensorFlow wrote; None where it wrote none."""
    path = run / FOLDER / _KERNELS_NAME
    return path if path.is_file() else None
