"""`runs`: what was launched, newest first."""

from __future__ import annotations

import time

from app.cli.output import clock, describe_run, duration, print_json, say, table
from app.cli.parser import Parser, add_json
from app.facts.device_map import recorded_devices
from runners.plan.plan import TRACE_VARIABLE
from runners.runs import registry
from runners.runs.purpose import is_preflight, purpose, tried
from runners.runs.run import Run

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
        say(table(head, [_row(run, told) for run in found]))
    else:
        say(f"no runs in {registry.runs_folder()} yet; python3 -m app demo tf-model-parallel makes one")
    return 0


def _row(run: Run, told: bool) -> tuple[str, ...]:
    state, reason = run.judge()
    seconds = run.took_s(time.time())
    took = "" if seconds is None else duration(seconds)
    stage = run.stage
    state = f"{state} ({stage})" if stage else state
    made_for = (_purpose(run),) if told else ()
    return run.id, state, clock(run.created), took, _devices(run), *made_for, reason or ""


def _devices(run: Run) -> str:
    """Those that it was given as it was asked for them, else those it told of; why there is none."""
    asked = None if is_preflight(run) else run.spec.get("devices")  # in one, parts of the host play GPUs
    recorded, stand_ins = recorded_devices(run)
    devices = list(map(str, asked)) if isinstance(asked, list) and asked else recorded
    if not devices:
        return f"- ({_no_device(run)})"
    if stand_ins.issuperset(devices):
        return f"{','.join(devices)} (stand-in{'s' if len(devices) > 1 else ''})"
    return ",".join(f"{device} (stand-in)" if device in stand_ins else device for device in devices)


def _no_device(run: Run) -> str:
    if (run.spec.get("env") or {}).get(TRACE_VARIABLE) == "0":
        return "not recorded"
    return "none seen" if run.ended else "none yet"


def _purpose(run: Run) -> str:
    """``tries a fix of RUN``: as the Runs page marks it."""
    trial = tried(run)
    return purpose(run) + (f" of {trial.of}" if trial else "")
