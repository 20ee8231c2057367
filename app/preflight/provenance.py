"""What a pre-flight's report says of itself: for what machine, from what, by which rules, and what next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from app.facts.dialects import dialect_of
from app.judgments.severity import RANK
from app.views import units
from app.views.naming import some_of
from probes.boot import NOT_RECORDED
from runners.environments.frameworks import FRAMEWORKS
from runners.errors import HopscopeError
from runners.plan.preflight_plan import STEPS
from runners.plan.trials import EDITED_SCRIPT
from runners.runs.run import Run

HIGH, MEDIUM, LOW = "high", "medium", "low"
"""How far to trust a prediction."""


def machine_told(report: Mapping[str, Any]) -> str:
    """``for 2 GPUs (as the script names)``."""
    gpus, named = report["gpus"], report["gpus_named"]
    placed = dialect_of(report.get("framework")).places_ops
    if not placed and not named and (playing := report.get("stand_ins")):
        return f"for {some_of(playing, 'devices')} as cards (the script names no GPU)"
    how = f"the script names {named}" if named else "the script names no GPU"
    return f"for {units.plural(gpus, 'GPU')} ({'as the script names' if named == gpus else how})"


def stand_ins_told(report: Mapping[str, Any]) -> str:
    """As what the host's further devices are taken that the script names; '' where it names none."""
    found = report.get("stand_ins") or ()
    if not found:
        return ""
    kind = dialect_of(report["framework"]).host_device
    then = "the host on that machine, too: then only what goes to or from a GPU crosses"
    if len(found) == 1:
        named = f"the script names this {kind} of the host"
        return f"{found[0]} is taken for a card, as a stand-in: {named}. Left as it is, it is {then}."
    named = f"the script names these {kind}s of the host"
    them = some_of(found, "devices")
    return f"{them} are taken for cards, as stand-ins: {named}. Left as they are, they are {then}."


def unsure_of_stand_ins(devices: Sequence[str]) -> dict[str, Any]:
    """The row of what cannot be foreseen of them."""
    why = "they are the host's here: what a card has none for is told only where the code names GPUs"
    return {"what": f"kernels on {some_of(devices, 'devices')}", "site": None, "count": 1, "why": why}


def steps_told(report: Mapping[str, Any]) -> str:
    """``3 steps after the first``; of a script without steps, that it is told of all that ran."""
    if not report["steps"]:
        made = report.get("steps_made")
        which = f"no more than its first {first_steps(made)}" if made else "which was no optimizer step"
        return f"all that ran, {which}"
    after = " after the first" if dialect_of(report["framework"]).places_ops else ""
    return units.plural(report["steps"], "step") + after


def first_steps(made: int) -> str:
    """``step``; ``8 steps`` of a first call that made as many."""
    return "step" if made == 1 else units.plural(made, "step")


def libraries_first(report: Mapping[str, Any]) -> bool:
    """Whether what libraries would do stands above the findings: it is loud, and none of these is worse.

    It is of whole layers and functions: a kernel that is not taken, a function that is not compiled.
    """

    def worst(rows: Sequence[Mapping[str, Any]]) -> int:
        return min((RANK[row["severity"]] for row in rows), default=RANK["info"])

    ours = worst(report["libraries"])
    return ours < RANK["info"] and ours <= worst(report["findings"])


def shared_rules(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rules that all of several findings rest on: they are told once."""
    first, *others = rows or [{"rules": []}]
    return [rule for rule in first["rules"] if all(rule in row["rules"] for row in others)] if others else []


def further_rule(rule: str, shared: Sequence[str]) -> str:
    """A rule that one finding rests on, besides those that all rest on."""
    return f"{'and by the ' if shared else ''}rule: {rule}"


def shared_trust(rows: Sequence[Mapping[str, Any]]) -> str:
    """How far to trust all of several findings, where that is the same; else ''."""
    told = {trust_told(row) for row in rows}
    return told.pop() if len(told) == 1 and len(rows) > 1 else ""


def at_line(row: Mapping[str, Any]) -> str:
    """`` at train.py:31``; '' for what has no line."""
    return f" at {row['site']}" if row["site"] else ""


def trust_told(row: Mapping[str, Any]) -> str:
    """``medium: nobody asked for the device``."""
    return ": ".join(filter(None, (row["confidence"], row["why"])))


def library_lines(row: Mapping[str, Any]) -> list[str]:
    """What a library for GPUs would do, as lines for a terminal."""
    at = f" ({row['site']})" if row["site"] else ""
    return [
        f"{row['what']}{at}",
        f"     confidence {trust_told(row)}",
        f"     rule of {row['source']}: {row['rule']}",
    ]


def nothing_foreseen(run: Run, why: str = "") -> HopscopeError:
    """The error of a run that predicts nothing: `why`, or how its script ended."""
    state, reason = run.judge()
    known = FRAMEWORKS.get(run.framework or "")
    name = known.title if known else "a framework"
    how = f" ({state}{f', {reason}' if reason else ''})"
    ended = (
        f"its script ended without an op of {name}; --framework says which one it uses"
        if state == "finished"
        else f"its script did not get to an op of {name}{how}; what it printed is in {run.log}"
    )
    if run.exit_code == NOT_RECORDED:
        ended = (
            f"{name} could not be recorded, so the script ended before its first step; why is in {run.log}"
        )
    return HopscopeError(f"{run.id} foresees nothing: {why or ended}")


def command_again(run: Run) -> str:
    """The command that flies a run's script again, as a shell takes it; '' where none is known."""
    words = [str(word) for word in run.spec.get("command") or ()][1:]
    words = words[words[:1] == [str(EDITED_SCRIPT)] :]  # that runs a trial's copy
    asked = run.spec["preflight"]
    options = [] if asked.get("steps") in (None, STEPS) else ["--steps", str(asked["steps"])]
    options += ["--gpus", str(asked["gpus"])] if asked.get("gpus") else []
    return shlex.join(["python3", "-m", "app", "preflight", *options, "--", *words]) if words else ""
