"""What stands beside a finding: why it is so, the lines that it speaks of, and a fix, or advice in words."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from app.diagnosis.causes.default_device import neighbors
from app.diagnosis.proof import Proof, proof
from app.diagnosis.registry import BY_CODE, because
from app.facts.dialects import BY_NAME
from app.facts.lines import Excerpt, excerpt, split_site
from app.facts.placement import op_table
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.fixes.code.change import Overlap
from app.fixes.code.edits import Edit, Repair, applied, edits_between
from app.fixes.code.parsed_source import BROKEN, Source
from app.fixes.executed_ops import Ran
from app.fixes.situation import Draft, Situation
from app.judgments.finding import Finding
from app.judgments.severity import INFO
from app.store.sources import shown_lines


@dataclasses.dataclass(frozen=True)
class Recorded:
    """What fixes know of a run."""

    hops: Sequence[Hop]
    """Its hop table, in which the rows of findings point."""
    text_of: Callable[[str], str | None]
    """The text of a file by its name in sites, as it was, white space and all."""
    framework: str
    """``tensorflow`` or ``mxnet``."""
    devices: Sequence[str]
    ran: Ran = dataclasses.field(default_factory=Ran)
    """What ran at its lines."""
    files: Sequence[str] = ()
    """Names of files that have lines in it."""

    def situation(self, finding: Finding) -> Situation | None:
        """What a fix is made from; None without a line, its text or its framework. Raises one of `BROKEN`."""
        place = split_site(finding.site)
        text = self.text_of(place[0]) if place is not None else None
        if place is None or text is None or self.framework not in BY_NAME:
            return None
        rows = set(finding.hops)
        return Situation(
            finding,
            hops=[self.hops[row] for row in finding.hops if 0 <= row < len(self.hops)],
            file=place[0],
            line=place[1],
            source=Source(text),
            framework=self.framework,
            devices=self.devices,
            ran=self.ran,
            others=[hop for row, hop in enumerate(self.hops) if row not in rows],
            text_of=self.text_of,
            files=self.files,
        )


def repair(finding: Finding, recorded: Recorded) -> Repair | None:
    """The change that an expert would make at the finding's line; None where the text decides for none.

    The changed text always parses.
    """
    make = BY_CODE[finding.code].fix
    if make is None or (finding.severity == INFO and not finding.recurs):
        return None
    try:
        situation = recorded.situation(finding)
        draft = make(situation) if situation is not None else None
        return _checked(draft, recorded.text_of) if draft is not None else None
    except (Overlap, *BROKEN):
        return None


def advised(finding: Finding, recorded: Recorded) -> str | None:
    """The advice in words where no change is proposed, by what the finding's line does.

    As it is where no text decides. Causes without advice of their own may say something of each step.
    """
    if finding.fix is None and not finding.recurs:
        return None
    try:
        situation, cause = recorded.situation(finding), BY_CODE[finding.code]
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


@dataclasses.dataclass(frozen=True)
class Explained:
    """A finding with all that its reader needs."""

    finding: Finding
    because: str
    """What it was judged by, a sentence; '' where the summary says it."""
    excerpt: Excerpt | None
    """None where the line's text was not kept."""
    repair: Repair | None
    """None where the text decides for none, or nothing is wrong."""
    change: str
    """The repair like a unified diff, safe to show; '' for none."""
    proof: Proof
    """What it rests on, laid out."""

    def row(self) -> dict[str, Any]:
        """As the report has it."""
        return self.finding.row() | {
            "because": self.because,
            "proof": self.proof.lines(),
            "source": self.excerpt.row() if self.excerpt else None,
            "repair": self.repair.row() | {"diff": self.change} if self.repair else None,
        }


def explained(findings: Sequence[Finding], tables: Tables, hops: Sequence[Hop]) -> list[Explained]:
    """Each finding with what stands beside it, in their order."""
    recorded = Recorded(
        hops,
        tables.text_of,
        next((process.framework for process in tables.processes if process.framework), ""),
        tables.devices,
        Ran(functools.cache(lambda: op_table(tables))),
        list(dict.fromkeys(one.site.rpartition(":")[0] for one in tables.locations.values())),
    )
    texts = functools.cache(lambda path: _shown(tables, path))
    return [
        _explained(finding, recorded, texts) for finding in neighbors.together(findings, hops, tables.text_of)
    ]


def _shown(tables: Tables, path: str) -> list[str] | None:
    """A file's lines, safe to show; None where its text was not kept."""
    text = tables.text_of(path)
    return None if text is None else shown_lines(text)


def _explained(
    finding: Finding, recorded: Recorded, lines_of: Callable[[str], list[str] | None]
) -> Explained:
    place = split_site(finding.site)
    lines = excerpt(finding.site, lines_of(place[0]) if place else None)

    def code_of(site: str) -> str:
        at = split_site(site)
        text = lines_of(at[0]) if at else None
        return text[at[1] - 1].strip() if at and text and 1 <= at[1] <= len(text) else ""

    made = repair(finding, recorded)
    words = made.words if made else neighbors.advised(finding, advised(finding, recorded))
    finding = dataclasses.replace(finding, fix=words)
    change = "\n".join(shown_lines(made.code(recorded.text_of))) if made else ""
    return Explained(finding, because(finding), lines, made, change, proof(finding, recorded.hops, code_of))
