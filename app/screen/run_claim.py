"""What a catalogued program claims, and what a run of it measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.live.claim import claim_box
from app.store.verdicts import FAILS, HOLDS, UNTESTABLE, Verdict
from runners.catalogue import PROGRAMS
from runners.program import Program
from runners.run import Run
from runners.status import LIVE_STATES

_TONES = {HOLDS: "good", FAILS: "odd", UNTESTABLE: "quiet"}
_MEASURING = {"text": "measuring", "tone": "busy", "measured": ""}


def draw_claim(run: Run, verdicts: Sequence[Verdict]) -> None:
    """Draws the claim with its verdicts; nothing for a run that has none to tell."""
    program = PROGRAMS.get(run.name) if run.spec.get("kind") == "program" else None
    rows = claim_rows(program, verdicts, run.state in LIVE_STATES)
    if rows:
        claim_box(rows, program.claim if program else "", "claim")


def claim_rows(program: Program | None, verdicts: Sequence[Verdict], live: bool) -> list[Mapping[str, str]]:
    """One line a verdict; a program that times its claim says that it does so while it has none."""
    if not verdicts:
        return [_MEASURING] if program is not None and program.timed and live else []
    return [
        {"text": one.verdict, "tone": _TONES.get(one.verdict, "quiet"), "measured": one.text}
        for one in verdicts
    ]
