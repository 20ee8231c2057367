"""A fix as code for the line of a finding, or none where no edit is safe to propose."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from app.diagnosis.registry import BY_CODE
from app.facts.dialects import BY_NAME
from app.facts.lines import split_site
from app.facts.transfers.hops import Hop
from app.fixes.code.change import Overlap
from app.fixes.code.edits import Edit, Repair, applied, edits_between
from app.fixes.code.parsed_source import BROKEN, Source
from app.fixes.executed_ops import Ran
from app.fixes.situation import Draft, Situation
from app.judgments.finding import Finding
from app.judgments.severity import INFO


@dataclasses.dataclass(frozen=True)
class Program:
    """What is known of a run's program, whose text is to be changed."""

    hops: Sequence[Hop]
    """The run's hop table, in which rows of findings point."""
    text_of: Callable[[str], str | None]
    """The text of a file by its name in sites, as it was (white space and all)."""
    framework: str
    devices: Sequence[str]
    ran: Ran = dataclasses.field(default_factory=Ran)
    files: Sequence[str] = ()
    """Names of the files that have lines in the run."""

    def situation(self, finding: Finding) -> Situation | None:
        """What a fix is made from; None without a line, its text or its framework. Raises one of `BROKEN`."""
        place = split_site(finding.site)
        text = self.text_of(place[0]) if place is not None else None
        if place is None or text is None or self.framework not in BY_NAME:
            return None
        return Situation(
            finding,
            [self.hops[row] for row in finding.hops if 0 <= row < len(self.hops)],
            *place,
            Source(text),
            self.framework,
            self.devices,
            self.ran,
            [hop for row, hop in enumerate(self.hops) if row not in finding.hops],
            self.text_of,
            self.files,
        )


def repair(finding: Finding, program: Program) -> Repair | None:
    """The change that an expert would make at the finding's line; None where the text decides for none.

    The changed text always parses.
    """
    make = BY_CODE[finding.code].fix
    if make is None or (finding.severity == INFO and not finding.recurs):
        return None
    try:
        situation = program.situation(finding)
        draft = make(situation) if situation is not None else None
        return _checked(draft, program.text_of) if draft is not None else None
    except (Overlap, *BROKEN):
        return None


def advised(finding: Finding, program: Program) -> str | None:
    """The advice in words where no change is proposed, by what the finding's line does.

    As it is where no text decides. Causes without advice of their own may say something of each step.
    """
    if finding.fix is None and not finding.recurs:
        return None
    try:
        situation = program.situation(finding)
        cause = BY_CODE[finding.code]
        if situation is None or (not finding.fix and cause.advice is not None):
            return finding.fix
        return cause.line_advice(situation, finding.fix or "") or None
    except BROKEN:
        return finding.fix


def _checked(draft: Draft, text_of: Callable[[str], str | None]) -> Repair | None:
    """The draft as edits of the texts as they are; None where nothing changes. Raises what parsing may."""
    edits: list[Edit] = []
    for file, changed in draft.texts.items():
        text = text_of(file) or ""
        made = edits_between(file, text, changed)
        Source(applied(text, made))
        edits += made
    return Repair(draft.words, tuple(edits)) if edits else None
