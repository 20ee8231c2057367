"""Reads what was sampled of a run, and finds the processes that do it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from probes.nvml.snapshot import merge
from runners.runs.processes import PROC, Identity, command_line, identify, read_stat
from runners.runs.run import Run
from runners.supervise.run_sampler import MODULE, SAMPLER_MODULE
from runners.supervise.sample_rows import SAMPLES_NAME
from tests.integration.waiting import until


def rows(run: Run) -> list[dict[str, Any]]:
    """The rows so far, each with all that the rows before it said."""
    merged: list[dict[str, Any]] = []
    for line in (run.path / SAMPLES_NAME).read_text().splitlines():
        row = json.loads(line)
        merged.append(merge(merged[-1] if merged else None, row))
        merged[-1]["run"] = {**(merged[-2]["run"] if len(merged) > 1 else {}), **row.get("run", {})}
        merged[-1]["lost"] = row.get("lost", 0)
    return merged


def until_row(run: Run, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Wait for a row that is as wanted."""
    return until(lambda: [row for row in rows(run) if wanted(row)])[-1]


def companion_of(run: Run) -> Identity:
    """The process that samples the run."""

    def find() -> Identity | None:
        for entry in PROC.iterdir():
            words = command_line(int(entry.name)) if entry.name.isdigit() else []
            if MODULE in words and str(run.path) in words:
                return identify(int(entry.name))
        return None

    found = until(find)
    assert found is not None
    return found


def sampler_of(companion: Identity) -> Identity:
    """The sampler that it has at the moment."""

    def find() -> Identity | None:
        for entry in PROC.iterdir():
            stat = read_stat(int(entry.name)) if entry.name.isdigit() else None
            if stat and stat.parent == companion.pid and SAMPLER_MODULE in command_line(stat.pid):
                return stat.identity
        return None

    found = until(find)
    assert found is not None
    return found
