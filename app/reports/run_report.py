"""The report of a run, version 1: what `report --json` prints and the pages show."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.diagnosis.detectors.unseen_functions import hidden
from app.diagnosis.explanation import explained
from app.diagnosis.findings import run_findings
from app.diagnosis.judged_hops import hop_table
from app.facts.collectives import collective_table
from app.facts.device_map import device_map
from app.facts.devices import in_order
from app.facts.gpu_samples import sample_summary
from app.facts.memory import memory_table
from app.facts.placement import op_table, placement
from app.facts.run_notes import run_notes
from app.facts.syncs import sync_table
from app.facts.tables import Tables, tables_of
from app.facts.transfers.copy_times import cards_in, times_note, with_times
from app.facts.wait_costs import with_stalls
from app.store.failure import last_exception
from app.store.progress import last_progress
from app.store.run import open_run
from app.store.sample_parsing import SampleTable
from app.store.verdicts import read_verdicts
from runners.copy_costs import Costs, costs_of_run
from runners.run import read_run

VERSION = 1


def build_report(
    run: Mapping[str, Any],
    tables: Tables,
    ops: bool = False,
    samples: SampleTable | None = None,
    costs: Costs | None = None,
) -> dict[str, Any]:
    """The report as plain data, ready for JSON.

    `run` says run, framework, status, exit_code, progress, verdicts and the last exception as the run's
    folder does, and in `spec` what it was launched with; all may be absent. With `ops` there is one row an op
    too. `samples` are those of its devices, None where it has none; `costs` what copies between its cards
    cost, where that was measured.
    """
    spec = run.get("spec") or {}
    mapped = device_map(spec, tables)
    hops = with_times(hop_table(tables), costs, mapped)
    syncs = with_stalls(sync_table(tables), tables, hops)
    frameworks = [process.framework for process in tables.processes if process.framework]
    notes = [f"The last exception in its output: {run['exception']}"] if run.get("exception") else []
    notes += [note.text for note in run_notes(tables)]
    if note := times_note(costs, hops):
        notes.append(note)
    report: dict[str, Any] = {
        "version": VERSION,
        "run": run.get("run"),
        "framework": run.get("framework") or (frameworks[0] if frameworks else None),
        "status": run.get("status"),
        "exit_code": run.get("exit_code"),
        "steps": tables.steps,
        "progress": run.get("progress"),
        "devices": in_order([*tables.devices, *mapped]),
        "device_map": mapped,
        "notes": notes,
        "verdicts": list(run.get("verdicts") or ()),
        "unseen": [dataclasses.asdict(row) for row in tables.unseen],
        "hidden": hidden(tables),
        "placement": placement(tables),
        "hops": [hop.row() for hop in hops],
        "collectives": [row.row() for row in collective_table(tables)],
        "syncs": [row.row() for row in syncs],
        "memory": [row.row() for row in memory_table(tables)],
        "samples": sample_summary(samples, mapped),
        "findings": [row.row() for row in explained(run_findings(tables, hops, syncs, spec), tables, hops)],
    }
    if ops:
        report["ops"] = [row.row() for row in op_table(tables)]
    return report


def run_info(path: Path) -> dict[str, Any]:
    """What a run's folder says of the run itself; missing or damaged files leave their parts empty."""
    run = read_run(path)
    raised = last_exception(path, run.spec) if run.state == "failed" else None
    return {
        "run": run.id,
        "framework": run.framework,
        "status": run.state,
        "exit_code": run.exit_code,
        "exception": raised.told if raised else None,
        "spec": run.spec,
        "progress": _progress(path),
        "verdicts": [verdict.row() for verdict in read_verdicts(path)],
    }


def _progress(path: Path) -> dict[str, int | None] | None:
    """The last step that the program printed, of how many, by its own count; None where it printed none."""
    told = last_progress(path)
    return {"step": told.steps[-1], "total": told.total} if told.steps else None


def run_report(path: Path, ops: bool = False, seal: bool = True) -> dict[str, Any]:
    """The report of the run in a folder, running or ended; an ended one is sealed on the way, if it may be.

    Raises HopscopeError when there is no such folder.
    """
    store = open_run(path)
    try:
        if seal:
            store.seal_own()
        tables, info = tables_of(store), run_info(path)
        cards = cards_in(device_map(info["spec"], tables))
        return build_report(info, tables, ops, store.samples(), costs_of_run(path, cards))
    finally:
        store.close()
