"""What stands beside a finding: why it is so, the lines that it speaks of, and a change that mends it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from app.analysis.evidence import because
from app.analysis.excerpt import Excerpt, excerpt
from app.analysis.finding import Finding
from app.analysis.hops import Hop
from app.analysis.lines import split_site
from app.analysis.placement import op_table
from app.analysis.repairs.edits import Repair
from app.analysis.repairs.ran import Ran
from app.analysis.repairs.repair import repair
from app.analysis.tables import Tables
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

    def row(self) -> dict[str, Any]:
        """As the report has it."""
        return self.finding.row() | {
            "because": self.because,
            "source": self.excerpt.row() if self.excerpt else None,
            "repair": {"words": self.repair.words, "diff": self.change} if self.repair else None,
        }


def explained(findings: Sequence[Finding], tables: Tables, hops: Sequence[Hop]) -> list[Explained]:
    """Each finding with what stands beside it, in their order."""
    ran = Ran(functools.cache(lambda: op_table(tables)))
    files = list(dict.fromkeys(one.site.rpartition(":")[0] for one in tables.locations.values()))
    return [_explained(finding, tables, hops, ran, files) for finding in findings]


def _explained(
    finding: Finding, tables: Tables, hops: Sequence[Hop], ran: Ran, files: Sequence[str]
) -> Explained:
    place = split_site(finding.site)
    text = tables.text_of(place[0]) if place else None
    lines = excerpt(finding.site, shown_lines(text) if text is not None else None)
    framework = next((process.framework for process in tables.processes if process.framework), "")
    made = repair(finding, hops, tables.text_of, framework, tables.devices, ran, files)
    change = "\n".join(shown_lines(made.code(tables.text_of))) if made else ""
    return Explained(finding, because(finding), lines, made, change)
