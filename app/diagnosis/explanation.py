"""What stands beside a finding: why it is so, the lines that it speaks of, and a change that mends it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from app.diagnosis.causes.default_device import neighbors
from app.diagnosis.fix_choice import Recorded, advised, repair
from app.diagnosis.proof import Proof, proof
from app.diagnosis.registry import because
from app.facts.lines import Excerpt, excerpt, split_site
from app.facts.placement import op_table
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.fixes.code.edits import Repair
from app.fixes.executed_ops import Ran
from app.judgments.finding import Finding
from app.store.sources import shown_lines


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
