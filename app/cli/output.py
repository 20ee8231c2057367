"""What the commands print: JSON for programs, tables for people."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.facts.device_map import recorded_devices
from runners.errors import HopscopeError
from runners.printable import printable_lines
from runners.runs.purpose import is_preflight, tried
from runners.runs.run import Run
from runners.runs.run_fields import Plain

_DEEPEST_JSON = 200


def print_json(value: dict[str, Any]) -> None:
    """Print an object as one line of standard output: JSON by its rules, ASCII only.

    HopscopeError where standard output cannot be written; BrokenPipeError where nobody reads it.
    """
    _print(json.dumps(Plain(_DEEPEST_JSON).value(value), allow_nan=False), "\n")


def say(text: str, end: str = "\n") -> None:
    """Print a command's result, in which text from runs cannot drive the terminal; errors as `print_json`."""
    _print(printable_lines(text), end)


def _print(text: str, end: str) -> None:
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise HopscopeError(f"standard output cannot be written: {error.strerror}") from None


def drop_output() -> None:
    """Write standard output nowhere from now on: Python would fail at its end to write what is left."""
    with Path(os.devnull).open("wb") as nowhere, contextlib.suppress(OSError):
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def tell(line: str) -> None:
    """Tell the user something that is not the command's result, if standard error can be written."""
    with contextlib.suppress(OSError):
        print(f"hopscope: {printable_lines(line)}", file=sys.stderr, flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned columns under a head."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]
    return "\n".join(lines)


def describe_run(run: Run) -> dict[str, Any]:
    """Return what `runs --json` says of a run. Times are epoch seconds."""
    state, reason = run.judge()
    trial = tried(run)
    return {
        "run": run.id,
        "name": run.name,
        "kind": run.spec.get("kind"),
        "preflight": is_preflight(run),
        "tries": None if trial is None else dataclasses.asdict(trial),
        "framework": run.framework,
        "state": state,
        "reason": reason,
        "exit_code": run.exit_code,
        "signal": run.signal,
        "created": run.created,
        "started": run.started_at,
        "ended": run.ended_at,
        "devices": run.spec.get("devices"),
        "recorded_devices": recorded_devices(run)[0],
        "stand_ins": run.spec.get("stand_ins"),
        "steps": run.spec.get("steps"),
        "options": run.spec.get("options"),
        "command": run.spec.get("command"),
        "stage": run.stage,
        "processes": run.members,
        "path": str(run.path),
    }


def clock(epoch_s: float) -> str:
    """Return a time of day on the user's clock, with its date."""
    return datetime.datetime.fromtimestamp(epoch_s).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def duration(seconds: float) -> str:
    """Return 4.2 s, 3 min 20 s or 2 h 5 min."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
