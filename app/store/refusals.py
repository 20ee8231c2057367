"""What processes left word of that could not begin a trace (probes/trace/refusals.py)."""

from __future__ import annotations

from pathlib import Path

from app.store.parse import ProcessTrace, Reasons
from app.store.traced_devices import TRACE_FOLDER
from probes.trace.refusals import BYTES, NAME
from runners.runs import run_files


def refusals_in(folder: Path) -> Reasons:
    """Return what is not recorded at all and why, from a run's folder, with how often."""
    trace = ProcessTrace()
    try:
        with run_files.open_file(folder, f"{TRACE_FOLDER}/{NAME}") as file:
            trace.feed(file.read(BYTES))
    except OSError:
        pass  # a run made by an earlier version, or no folder
    return trace.unseen
