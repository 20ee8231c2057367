"""Runs catalogued programs as `demo` does, recorded, in three steps on stand-ins, and judges their claims.

tests/unit/test_programs_proved.py holds that every program is run by some test through `demo` here, and that
its claim is judged.
"""

from __future__ import annotations

from app.reports.run_report import run_report
from runners.judging import judge
from runners.plan import launcher
from runners.programs.evidence import Shown
from runners.programs.verdicts import Verdict
from runners.runs import registry
from tests.integration.leftovers import all_processes, assert_nothing_is_left
from tests.integration.recording import Recorded

STEPS = 3
LIMIT_S = 200.0


def demo(
    name: str, stand_ins: int | None = 2, resume: str | None = None, steps: int = STEPS, **options: str | int
) -> Recorded:
    """Run a program to its end, which must be a good one and leave no process; its report has all ops.

    An option is named with `_` for `-`. With `resume` the run of that id is gone on with, on its devices.
    """
    plan = launcher.plan_program(
        name,
        stand_ins=stand_ins if resume is None else None,
        steps=steps,
        options={option.replace("_", "-"): value for option, value in options.items()},
        resume=resume,
    )
    assert plan.problems == []
    run = launcher.launch(plan)
    before = all_processes(run)
    run = registry.wait(run, LIMIT_S)
    log = run.log.read_text(errors="replace")
    assert (run.state, run.exit_code, run.reason) == ("finished", 0, None), log[-3000:]
    assert_nothing_is_left(run, before)
    report = run_report(run.path, ops=True)
    assert report["ops"], f"nothing was recorded:\n{log[-3000:]}"
    return Recorded(run, report, log)


def verdicts(*runs: Recorded) -> list[Verdict]:
    """What the claim of a program comes to by these runs of it, by their reports and nothing else."""
    shown = {}
    for run, report, _ in runs:
        spec = run.spec
        shown[run.id] = Shown(run.id, spec["options"], tuple(spec["devices"]), spec["stand_ins"], report)
    return judge(runs[0].run.name, shown)
