"""The head of a run's page: what it is, how far it is, what it ran with; and how it ended."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.components.facts.facts import Fact, facts
from app.components.table.table import Column, table
from app.facts.device_map import device_map, devices_of, without_host
from app.facts.devices import is_gpu, is_host
from app.facts.run_notes import run_notes
from app.facts.tables import Tables
from app.store.failure import last_exception
from app.store.log import read_tail
from app.views import units
from app.views.progress_data import Progress
from app.views.text import escape_markdown
from app.web.shared import command_words
from app.web.shared.devices import badges, devices_cell
from app.web.shared.places import run_link
from app.web.shared.run_rows import (
    SPEED_HELP,
    ago,
    clock,
    framework_text,
    last,
    members_title,
    page_buttons,
    progress_cell,
    state_cell,
)
from runners.catalogue import PROGRAMS
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import HopscopeError
from runners.plan.resuming import resumable, saves_itself
from runners.runs.purpose import purpose
from runners.runs.run import Run
from runners.runs.status import LIVE_STATES
from runners.supervise.members import Stage, read_stages

STILL_RUNNING = ", still running"
"""Beside a full bar: after its last step a program may evaluate or save, which it does not count."""
_LAST_LINES = 12
_ORIGINS = {
    "page": "Launched from the Launch page",
    "cli": "Launched from the command line",
    "lesson": "Launched for a lesson",
    "attached": "Started by something else, which attached the recorder,",
    "block": "A block that a program recorded",
}
_MAP_COLUMNS = (
    Column("device", "Device", "devices"),
    Column("name", "Card", "label"),
    Column("nvml_index", "nvidia-smi", "number", help="Its number in nvidia-smi"),
    Column("cuda_ordinal", "CUDA", "number", help="CUDA's number of it in the process"),
    Column("uuid", "UUID", "code"),
    Column("pci_bus_id", "PCI bus id", "code"),
    Column("source", "Told by", "text", help="Who in the process said which card it is"),
)


def title_of(run: Run) -> str:
    """What the run is, for people: the program's title, else its name."""
    program = PROGRAMS.get(run.name) if run.spec.get("kind") == "program" else None
    return program.title if program else run.name


def run_facts(
    run: Run, progress: Progress, tables: Tables, operator: bool, *, top: bool = True
) -> dict[str, Any] | None:
    """Draws state, progress and devices in one line; gives the button or the link that was used, if any.

    `top`: the page is meant to be seen from its top on.
    """
    state, _ = run.judge()
    now = time.time()
    took = run.took_s(now)
    loss, rate, steps = last(progress.loss), progress.recent_rate, steps_cell(progress, tables.steps, state)
    kind, (devices, stand_ins) = purpose(run), devices_of(run)
    if not devices:
        devices, stand_ins = without_host(tables.devices), set(tables.stand_ins)
    values = [
        Fact("state", "State", "badge", state_cell(run, state)),
        *([Fact("kind", "Kind", "badge", {"text": kind, "tone": "quiet"})] if kind else []),
        Fact("progress", "Steps", "progress", steps, wide=steps["fraction"] is not None),
    ]
    if loss is not None:
        values.append(Fact("loss", "Loss", "number", {"text": f"{loss:.4g}"}))
    if rate is not None:
        values.append(Fact("speed", "Speed", "number", {"text": units.rate(rate), "title": SPEED_HELP}))
    values += [
        Fact(
            "duration",
            "Duration",
            "number",
            {"text": units.duration(None if took is None else round(took, 1))},
        ),
        Fact("started", "Launched", "number", {"text": ago(run.created, now), "title": clock(run.created)}),
        Fact("framework", "Framework", "text", {"text": framework_text(run) or "?"}),
    ]
    if devices:
        values.append(Fact("devices", "Devices", "devices", devices_cell(devices, stand_ins)))
    if several := processes_text(tables):
        cell = {"text": several, "title": members_title(run.members)}
        values.append(Fact("processes", "Processes", "label", cell))
    if before := run.spec.get("resumed_from"):
        cell = {"text": str(before), "href": run_link(str(before))}
        values.append(Fact("resumed", "Goes on from", "link", cell))
    for note in run_notes(tables):
        cell = {"text": note.label, "tone": "odd", "title": note.text}
        values.append(Fact(f"note-{note.label}", "Note", "badge", cell))
    if operator:
        values.append(Fact("actions", "", "actions", {"actions": page_buttons(run, state)}))
    return facts(values, "run", page=run.id, top=top)


def steps_cell(progress: Progress, applied: int | None, state: str) -> dict[str, Any]:
    """The steps that the program printed, else those of its optimizers, which are `applied`."""
    live = state in LIVE_STATES
    cell = progress_cell(progress, state)
    if not cell["text"] and applied is not None:
        cell = {"text": units.count(applied) + (" so far" if live else ""), "fraction": None}
    elif live and cell["fraction"] == 1:
        cell["text"] += STILL_RUNNING
    return {**cell, "text": cell["text"] or "-", "title": _whose(progress, applied)}


def _whose(progress: Progress, applied: int | None) -> str:
    if not progress.steps or applied == progress.steps[-1]:
        return ""
    beside = "no optimizer step" if applied is None else units.plural(applied, "optimizer step")
    return f"By the program's own count; the recorder saw {beside}"


def processes_text(tables: Tables) -> str:
    """``1 scheduler, 2 servers, 2 workers``; '' where there is one process."""
    members = {(process.role, process.rank or 0) for process in tables.processes if process.role}
    if not members:
        number = len(tables.processes)
        return units.plural(number, "process", "processes") if number > 1 else ""
    roles = Counter(role for role, _ in sorted(members))
    return ", ".join(
        units.plural(number, role, role if role.endswith("s") else "") for role, number in roles.items()
    )


def ending(run: Run) -> None:
    """Says why a run failed, was lost or was stopped, with the last lines that it printed."""
    state, reason = run.judge()
    if state not in ("failed", "lost", "stopped"):
        return
    words = f"**{state.capitalize()}**" + (f": {escape_markdown(reason)}" if reason else "")
    if reason and reason.startswith(state):
        words = f"**{escape_markdown(reason[:1].upper() + reason[1:])}**"
    if saves_itself(run) and (lacking := resumable(run)):
        words += f". It cannot be resumed: {escape_markdown(lacking)}"
    if state == "stopped":
        st.info(words, icon=":material/stop_circle:")
        return
    raised = last_exception(run.path, run.spec) if state == "failed" else None
    if raised is not None:
        words += f"  \n{escape_markdown(raised.told)}"
    st.error(words, icon=":material/error:" if state == "failed" else ":material/help:")
    # Not what a framework printed when it began, where an exception is known.
    lines = raised.lines if raised is not None else read_tail(run.path, most_lines=_LAST_LINES).lines
    if lines := lines[-_LAST_LINES:]:
        st.caption("The last lines that it printed")
        st.code("\n".join(lines), language=None, wrap_lines=True)


def command(run: Run, tables: Tables) -> None:
    """The exact command, environment, versions and device map."""
    spec = run.spec
    st.code(command_text(spec), language="bash", wrap_lines=True)
    where = _ORIGINS.get(str(spec.get("origin")), "Launched")
    host = _mapping(spec.get("host")).get("name") or "an unknown host"
    st.caption(escape_markdown(f"{where} on {host}; kept in {run.path}"))
    versions = _mapping(spec.get("versions"))
    first = [f"{name} {versions[name]}" for name in _shown_packages(run.framework) if name in versions]
    if first:
        rest = len(versions) - len(first)
        more = f" and {units.plural(rest, 'more package')} in spec.json" if rest else ""
        st.markdown(f"**Versions** {escape_markdown(', '.join(first) + more)}")
    mapped = {name: known for name, known in device_map(spec, tables).items() if not is_host(name)}
    if mapped:
        shown = _MAP_COLUMNS if any(map(is_gpu, mapped)) else _MAP_COLUMNS[:2]
        table(shown, map_rows(mapped), "device-map", label="Device map")


def _shown_packages(framework: str | None) -> list[str]:
    known = FRAMEWORKS.get(framework or "")
    return ["python", *((known.name, *known.shown_packages) if known else ())]


def command_text(spec: dict[str, Any]) -> str:
    """What was run, as a shell would take it."""
    env = {name: value if value is None else str(value) for name, value in _mapping(spec.get("env")).items()}
    words = spec.get("command")
    stages: list[Stage] = []
    if spec.get("stages"):
        with contextlib.suppress(HopscopeError):
            stages = read_stages(spec)
    command = list(map(str, words)) if isinstance(words, list) else []
    return command_words.command_text(env, str(spec.get("cwd") or ""), command, stages)


def _mapping(value: object) -> dict[str, Any]:
    """A part of a spec, which somebody may have edited."""
    return value if isinstance(value, dict) else {}


def map_rows(mapped: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What each of the process's devices is, as far as the launcher and the process told."""
    stand_ins = {name for name, known in mapped.items() if known.get("stand_in")}
    rows = []
    for badge in badges(list(mapped), (), stand_ins):
        known = mapped[badge["device"]]
        part = "a part of " if known.get("parent_uuid") else ""
        role = ""
        if not is_gpu(badge["device"]):
            in_stead = badge["device"] in stand_ins
            role = "a part of the host that plays a GPU" if in_stead else ""
        others = known.get("also") or []
        also = (
            f", in other processes {', '.join(map(str, others))}"
            if isinstance(others, list) and others
            else ""
        )
        cells: dict[str, Any] = {
            name: {"text": str(known.get(name, "")), "sort": known.get(name, -1)}
            for name in ("nvml_index", "cuda_ordinal")
        }
        cells["device"] = {"devices": [badge]}
        name = str(known.get("name") or role)
        uuid = str(known.get("uuid") or known.get("parent_uuid") or "")
        cells["name"] = {"text": f"{part}{name}"}
        cells["uuid"] = {"text": f"{uuid}{also}"}
        cells["pci_bus_id"] = {"text": str(known.get("pci_bus_id") or "")}
        cells["source"] = {"text": str(known.get("source") or ("the launcher" if known.get("uuid") else ""))}
        rows.append({"id": badge["device"], "cells": cells})
    return rows
