"""Runs of lessons that were written by hand: what the registry would have of them, and no more."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from app.lessons.catalogue import LESSONS
from runners.catalogue import PROGRAMS
from runners.program import Variant
from runners.runs import registry
from runners.runs.processes import identify

STATUS: dict[str, Any] = {"exit_code": 0, "signal": None, "reason": None, "started": 100.0, "ended": 110.0}


def variant_of(program: str, name: str) -> Variant:
    return next(variant for variant in LESSONS[program].variants if variant.name == name)


def spec_of(program: str, name: str) -> dict[str, Any]:
    """What spec.json of a variant's run says, where it matters."""
    variant, known = variant_of(program, name), PROGRAMS[program]
    options = {option.name: option.default for option in known.options}
    options |= {one: known.option(one).parse(str(value)) for one, value in variant.options.items()}
    stand_ins = variant.stand_ins or known.default_devices
    return {
        "name": program,
        "framework": known.framework,
        "devices": [f"cpu:{index}" for index in range(1, stand_ins + 1)],
        "stand_ins": stand_ins,
        "steps": variant.steps or known.default_steps,
        "options": options,
        "lesson": {"program": program, "variant": name},
    }


def write_run(
    run_id: str,
    spec: dict[str, Any],
    state: str = "finished",
    log: str = "",
    created: str = "2026-01-01T00:00:00+00:00",
    **status: Any,
) -> Path:
    """Write a run's folder; a running one is watched by this process."""
    folder = registry.runs_folder() / run_id
    (folder / "trace").mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps({"run": run_id, "created": created} | spec))
    (folder / "out.log").write_text(log)
    watcher = {}
    if state == "running":
        me = identify(os.getpid())
        assert me is not None
        watcher = {"supervisor_pid": me.pid, "supervisor_start": me.start, "boot_id": me.boot}
    (folder / "status.json").write_text(json.dumps(STATUS | {"state": state} | watcher | status))
    return folder
