"""The rows of the Runs page."""

from __future__ import annotations

import datetime
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from app.components.table.table import Column
from app.facts.device_map import recorded_devices
from app.views import units
from app.views.progress_data import RECENT_LINES, Progress
from app.web.shared.address import RunAddress
from app.web.shared.devices import devices_cell
from app.web.shared.launch_words import title_of
from app.web.shared.places import run_link
from runners.plan.resuming import last_checkpoint, resumable, saves_itself
from runners.printable import printable
from runners.runs.processes import describe_signal
from runners.runs.purpose import purpose, tried
from runners.runs.run import Run
from runners.runs.status import LIVE_STATES

SPEED_HELP = f"Over the last {RECENT_LINES} progress lines that the program printed"
COLUMNS = (
    Column("state", "State", "badge"),
    Column("run", "Run", "link"),
    Column("framework", "Framework", "label"),
    Column("devices", "Devices", "devices", width="22em"),
    Column("started", "Started", "number"),
    Column("duration", "Duration", "number"),
    Column("progress", "Progress", "progress"),
    Column("loss", "Loss", "number", help="The last one that the program printed"),
    Column("speed", "Speed", "number", help=SPEED_HELP),
    Column("actions", "", "actions"),
)
BROKEN_COLUMNS = (
    Column("run", "Folder", "code"),
    Column("reason", "What is wrong", "text"),
    Column("actions", "", "actions"),
)
TONES = {
    "starting": "busy",
    "running": "busy",
    "finished": "good",
    "failed": "alert",
    "stopped": "quiet",
    "lost": "odd",
}

STOP = {"name": "stop", "label": "Stop", "confirm": "Stop it?", "yes": "Stop", "doing": "stopping"}
KILL = {
    "name": "kill",
    "label": "Kill",
    "title": "To see that it goes on from its last checkpoint",
    "confirm": "End it at once, saving nothing more?",
    "yes": "Kill",
    "doing": "killing",
}
RESUME = {"name": "resume", "label": "Resume", "doing": "launching"}
END_LEFT = STOP | {
    "label": "End what is left",
    "confirm": "End processes of it that still run?",
    "yes": "End them",
    "doing": "ending",
}
DELETE = {
    "name": "delete",
    "label": "Delete",
    "confirm": "Delete it and its trace for good?",
    "yes": "Delete",
    "doing": "deleting",
}


def run_row(
    run: Run, progress: Progress, operator: bool, now: float | None = None, known: Collection[str] = ()
) -> dict[str, Any]:
    """One run as a row of `COLUMNS`; only operators get buttons. `known` are the runs that can be shown."""
    now = time.time() if now is None else now
    state, reason = run.judge()
    took = run.took_s(now)
    last_loss = last(progress.loss)
    rate = progress.recent_rate
    return {
        "id": run.id,
        "cells": {
            "state": state_cell(run, state),
            "run": {
                "text": run.name,
                "href": run_link(run.id),
                **_purpose(run, known),
                "remark": run.id,
                "note": reason or "" if state in ("failed", "lost") else "",
                "sort": run.id,
            },
            "framework": {"text": framework_text(run)},
            "devices": devices_cell(*recorded_devices(run)),
            "started": {"text": ago(run.created, now), "sort": run.created, "title": clock(run.created)},
            "duration": {"text": "" if took is None else units.duration(round(took, 1)), "sort": took or 0},
            "progress": progress_cell(progress, state),
            "loss": {"text": "" if last_loss is None else f"{last_loss:.4g}", "sort": last_loss or 0},
            "speed": {"text": "" if rate is None else units.rate(rate), "sort": rate or 0},
            "actions": {"actions": buttons(run, state) if operator else []},
        },
    }


def listed_row(run: Run, progress: Progress, known: Collection[str]) -> dict[str, Any]:
    """As `run_row` for operators, without what changes with the clock: the browser tells how long it is."""
    row = run_row(run, progress, True, known=known)
    cells = row["cells"]
    cells["started"] = {"at": run.created, "sort": run.created, "title": clock(run.created)}
    if run.started_at is not None and run.judge(current=True)[0] in LIVE_STATES:
        cells["duration"] = {"since": run.started_at}
    return row


def _purpose(run: Run, known: Collection[str]) -> dict[str, Any]:
    """What it is beside a run of its name: a pre-flight, or one that tries a fix of another."""
    kind = purpose(run)
    before = run_before(run)
    if before is None:
        return {"kind": kind} if kind else {}
    of = {"lead": "of", "text": before.run, "href": before.link() if before.run in known else ""}
    return {"kind": kind, "of": of}


def run_before(run: Run) -> RunAddress | None:
    """Where the finding is whose fix a run tries; None for all other runs."""
    trial = tried(run)
    return None if trial is None else RunAddress(run=trial.of, finding=trial.finding)


def state_cell(run: Run, state: str) -> dict[str, Any]:
    """A run's state; of one in stages also which is underway."""
    stage = run.stage
    tone = TONES.get(state, "quiet")
    return {"text": f"{state} · {stage}" if stage else state, "tone": tone}


def members_title(members: Sequence[Mapping[str, Any]]) -> str:
    """Each process of a stage on a line, with how it ended; '' where it has one."""
    return "\n".join(map(_told_member, members))


def _told_member(member: Mapping[str, Any]) -> str:
    code, number = member.get("exit_code"), member.get("signal")
    if number is not None:
        end = describe_signal(number) if isinstance(number, int) else "signal"
    else:
        end = "running" if code is None else f"exited with status {code}"
    return f"{member.get('name')}: {end} (pid {member.get('pid')})"


def buttons(run: Run, state: str) -> list[dict[str, str]]:
    """What an operator may do with a run in this state."""
    if state in LIVE_STATES:
        return [] if run.attached else [STOP]
    if run.attached:
        return [DELETE]
    # Until it is written down as lost, processes of it may go on without anybody watching them.
    return [END_LEFT, DELETE] if state == "lost" and run.status.get("state") in LIVE_STATES else [DELETE]


def page_buttons(run: Run, state: str) -> list[dict[str, str]]:
    """As `buttons`, and what a run's own page offers of one that saves itself: to kill and to resume it."""
    known = buttons(run, state)
    if not saves_itself(run):
        return known
    if state in LIVE_STATES:
        return [*known, KILL]
    if resumable(run) is not None:
        return known
    return [RESUME | {"title": f"In a run of its own, from step {last_checkpoint(run)}"}, *known]


def broken_row(run: Run, operator: bool) -> dict[str, Any]:
    """A folder that can't be read, with what is wrong with it."""
    return {
        "id": run.id,
        "cells": {
            "run": {"text": printable(run.path)},
            "reason": {"text": run.problem or ""},
            "actions": {"actions": [DELETE] if operator and run.ended else []},
        },
    }


def progress_cell(progress: Progress, state: str) -> dict[str, Any]:
    """Steps done of those meant, with a bar where both are known."""
    step = progress.steps[-1] if progress.steps else None
    tone = TONES.get(state, "quiet")
    if step is None:
        return {"text": "", "fraction": None, "sort": 0}
    if not progress.total:
        return {"text": f"step {units.count(step)}", "fraction": None, "sort": step}
    text = f"{units.count(step)} / {units.count(progress.total)}"
    fraction = min(1.0, step / progress.total)
    return {"text": text, "fraction": fraction, "tone": "" if tone == "busy" else tone, "sort": fraction}


def framework_text(run: Run) -> str:
    """``TensorFlow 2.21.0``."""
    versions = run.spec.get("versions")
    version = versions.get(run.framework) if isinstance(versions, dict) else None
    return " ".join(part for part in (title_of(run.framework or ""), version) if part)


def last(values: Iterable[float | None]) -> float | None:
    """The last value that there is."""
    return next((value for value in reversed(tuple(values)) if value is not None), None)


def clock(at: float) -> str:
    """The machine's own date and time of an epoch second."""
    return datetime.datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def ago(at: float, now: float) -> str:
    """How long ago, in one unit: ``12 s ago``; from a week on the date."""
    seconds = max(0.0, now - at)
    if seconds >= 7 * 86400:
        return datetime.datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return f"{int(seconds)} s ago"
