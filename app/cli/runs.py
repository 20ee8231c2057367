"""`runs`: what was launched, newest first."""

from __future__ import annotations

import time

from app.cli.output import clock, describe_run, duration, print_json, table
from app.cli.parser import Parser, add_json
from runners import registry
from runners.purpose import purpose, tried
from runners.run import Run

SUMMARY = "list the runs, newest first"


def add_arguments(parser: Parser) -> None:
    """Declare the command's arguments."""
    add_json(parser)


def execute(arguments: list[str], parser: Parser) -> int:
    """Print the registry."""
    as_json = parser.parse(arguments).json
    found = registry.runs()
    if as_json:
        print_json({"runs": [describe_run(run) for run in found]})
    elif found:
        # Most lists have no run that is for anything: then the column would only take room.
        told = any(map(purpose, found))
        head = ("RUN", "STATE", "LAUNCHED", "TOOK", "DEVICES", *(("FOR",) if told else ()), "WHY")
        print(table(head, [_row(run, told) for run in found]))
    else:
        print(f"no runs in {registry.runs_folder()} yet; python3 -m app demo tf-model-parallel makes one")
    return 0


def _row(run: Run, told: bool) -> tuple[str, ...]:
    state, reason = run.judge()
    seconds = run.took_s(time.time())
    took = "" if seconds is None else duration(seconds)
    devices = run.spec.get("devices")
    shown = ",".join(map(str, devices)) if isinstance(devices, list) else ""
    stage = run.stage
    state = f"{state} ({stage})" if stage else state
    made_for = (_purpose(run),) if told else ()
    return run.id, state, clock(run.created), took, shown, *made_for, reason or ""


def _purpose(run: Run) -> str:
    """``tries a fix of RUN``: as the Runs page marks it."""
    trial = tried(run)
    return purpose(run) + (f" of {trial.of}" if trial else "")
