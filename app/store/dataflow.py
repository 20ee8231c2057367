"""What a pre-flight noted in a run's folder: a file a process, read as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
