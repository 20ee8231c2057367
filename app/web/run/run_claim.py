"""What a catalogued program claims, and what a run of it measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.components.claim.claim import claim_box
from app.lessons.of_run import claim_of
from runners.catalogue import PROGRAMS
from runners.program import Program
from runners.programs.verdicts import FAILS, HOLDS, UNTESTABLE, Verdict
from runners.runs.run import Run
from runners.runs.status import LIVE_STATES

_TONES = {HOLDS: "good", FAILS: "odd", UNTESTABLE: "quiet"}
_MEASURING = {"text": "measuring", "tone": "busy", "measured": ""}


def draw_claim(run: Run, verdicts: Sequence[Verdict]) -> None:
    """Draws the claim with its verdicts; nothing for a run that has none to tell.

    `verdicts` are what the program has said so far; once it has finished, its report is judged too.
    """
    program = PROGRAMS.get(run.name) if run.spec.get("kind") == "program" else None
    live = run.state in LIVE_STATES
    missing = None
    if program is not None and not live:
        claim = claim_of(run)
        verdicts, missing = claim.verdicts, claim.missing
    rows = claim_rows(program, verdicts, live, missing)
    if rows:
        claim_box(rows, program.claim if program else "", "claim")


def claim_rows(
    program: Program | None, verdicts: Sequence[Verdict], live: bool, missing: str | None = None
) -> list[Mapping[str, str]]:
    """One line a verdict; a program that times its claim says that it does so while it has none.

    `missing` is what it would take to judge the claim where this run alone did not.
    """
    if not verdicts and live:
        return [_MEASURING] if program is not None and program.timed else []
    rows: list[Mapping[str, str]] = [
        {"text": one.verdict, "tone": _TONES.get(one.verdict, "quiet"), "measured": one.text}
        for one in verdicts
    ]
    if missing:
        told = f"{missing[:1].upper()}{missing[1:]}, on the Lessons page."
        rows.append({"text": "not judged here", "tone": "quiet", "measured": told})
    return rows
