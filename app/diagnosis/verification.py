"""Whether a finding of one run is gone in another that was made to be rid of it, and what both cost."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from app.diagnosis.detectors.unseen_work import hidden
from app.diagnosis.row_shares import all_of
from app.facts.basis import total
from app.facts.devices import is_gpu
from app.facts.lines import split_site
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.judgments.finding import Finding

State = Literal["gone", "eased", "still there"]
"""Eased: what was a warning is only a note any more."""


@dataclasses.dataclass(frozen=True)
class StepTime:
    """How long a run's steps took, ns."""

    median: float
    low: float
    """A quarter of the steps were shorter, and `high`: a quarter were longer."""
    high: float

    def like(self, other: StepTime) -> bool:
        """Whether the middle halves of both meet, so that one run of each decides nothing."""
        return self.low <= other.high and other.low <= self.high


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the two runs, as far as it is compared. Each figure is None where it is not known."""

    found: tuple[Finding, ...]
    """The finding, as this run has it; several where a change made it happen at several lines."""
    bytes_of_finding: float | None
    """Bytes that its transfers move in each step; of the whole run where it has no steps."""
    bytes: float | None
    """Bytes that cross between devices in each step, likewise."""
    stood_ns: float | None
    """Time that Python stood still in each step, likewise."""
    step: StepTime | None
    """None without steps."""
    warnings: int
    """Findings that are warnings or errors."""


@dataclasses.dataclass(frozen=True)
class Verified:
    """Two runs side by side."""

    code: str
    site: str
    """The line in the run before."""
    state: State
    before: Side
    after: Side
    new: tuple[Finding, ...]
    """Warnings and errors that only the run after has."""
    by_step: bool
    """The figures are of a step; else of the whole run."""
    shown: tuple[int, ...] = ()
    """Rows of the run after: transfers inside graphs that XLA hid in the run before."""
    bytes_shown: float | None = 0
    """Bytes that these move in each step, likewise; None where not known."""
    uncovered: bool = False
    """The run after can show what XLA had compiled in the run before."""
    timed: bool = True
    """Times are compared."""
    stand_ins: bool = False
    """Times are of devices that only play GPUs, in one of the runs at least."""
    unseen: str = ""
    """What went unseen of much of the run after, and not of the run before: the finding may be in there."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """What is compared of a run."""

    tables: Tables
    hops: Sequence[Hop]
    syncs: Sequence[Sync]
    findings: Sequence[Finding]


@dataclasses.dataclass(frozen=True)
class Held:
    """The findings of two runs held against each other, as to one of them."""

    was: tuple[Finding, ...]
    """That one, in the run before."""
    still: tuple[Finding, ...]
    """What the run after has of it."""
    new: tuple[Finding, ...]
    """Warnings and errors that only the run after has."""

    @property
    def state(self) -> State:
        """What became of it."""
        if not self.still:
            return "gone"
        return (
            "eased"
            if any(one.loud for one in self.was) and not any(one.loud for one in self.still)
            else "still there"
        )


LineMap = Callable[[str], frozenset[str]]
"""The lines of the run after that a site of the run before has become; none where it was removed."""


def hold(code: str, site: str, before: Sequence[Finding], after: Sequence[Finding], became: LineMap) -> Held:
    """Hold the findings `after` against those `before`, as to that of this code and line."""
    was = tuple(one for one in before if (one.code, one.site or "") == (code, site))
    # What is one mistake at several lines is still there if it is left at any that others are not told at.
    others = {one.site for one in before if one.code == code and one.site != site}
    left = {site, *(line for one in was for line in _lines(one) if line not in others)}
    lines = {new for line in left for new in became(line)}
    known = {(one.code, new) for one in before for line in _lines(one) for new in became(line)}
    return Held(
        was,
        tuple(one for one in after if one.code == code and (one.site or "") in lines),
        tuple(one for one in after if one.loud and (one.code, one.site or "") not in known),
    )


def _lines(finding: Finding) -> list[str]:
    return [finding.site or "", *(finding.evidence.also_at or ())]


def verify(code: str, site: str, before: Judged, after: Judged, became: LineMap) -> Verified:
    """Hold `after` against `before`: is the finding of this code and line gone?"""
    held = hold(code, site, before.findings, after.findings, became)
    # What paces runs without steps, calls or loops, is seldom the same in both once the code changed.
    by_step = all((side.tables.steps or 0) > 1 for side in (before, after))
    uncovered = bool(_compiled(before.tables) - _compiled(after.tables))
    shown = _only_now(before, after, became) if uncovered else ()
    return Verified(
        code,
        site,
        held.state,
        _side(held.was, before, by_step),
        _side(held.still, after, by_step),
        held.new,
        by_step,
        shown,
        _moved([after.hops[row] for row in shown], after.tables.rounds if by_step else 1),
        uncovered,
        stand_ins=any(_played(side.tables) for side in (before, after)),
        unseen=missed if (missed := hidden(after.tables)) != hidden(before.tables) else "",
    )


def _played(tables: Tables) -> bool:
    return bool(tables.stand_ins) and not any(map(is_gpu, tables.devices))


def _compiled(tables: Tables) -> set[str]:
    return {str(key.fields.get("function")) for key in tables.of_kind("opaque") if key.count}


def _only_now(before: Judged, after: Judged, became: LineMap) -> tuple[int, ...]:
    """Rows of transfers inside graphs of the run after that the one before did not record."""
    known = {
        (hop.src, hop.dst, hop.tensor, site)
        for hop in before.hops
        if hop.count != 0
        for site in (became(hop.site) if hop.site else (None,))
    }
    return tuple(
        row
        for row, hop in enumerate(after.hops)
        if any(hop.graphs) and hop.count != 0 and (hop.src, hop.dst, hop.tensor, hop.site) not in known
    )


def _side(found: tuple[Finding, ...], run: Judged, by_step: bool) -> Side:
    times = run.tables.rounds if by_step else 1
    own = [hop for one in found for hop in all_of(one, run.hops)]
    across = [hop for hop in run.hops if hop.count != 0]
    waited = total(sync.stood_ns for sync in run.syncs if sync.count)
    return Side(
        found,
        _moved(own, times),
        _moved(across, times),
        None if waited is None else waited / times,
        _step_time(run.tables),
        sum(one.loud for one in run.findings),
    )


def _moved(hops: Sequence[Hop], times: int) -> float | None:
    moved = total(hop.bytes_total for hop in hops)
    return None if moved is None else moved / times


_LEAST_STEPS = 4
"""Of which the middle half says something."""


def _step_time(tables: Tables) -> StepTime | None:
    """Of the steps after the first, by the optimizer that has most of them."""
    counts = {key.id: key.count or 0 for key in tables.of_kind("mark") if key.fields.get("name") == "step"}
    most = max(counts, key=lambda key: counts[key], default=None)
    marks = [event for event in tables.events_of("mark") if event.key == most]
    took = [(later.ts_ns - mark.ts_ns) / later.count for mark, later in itertools.pairwise(marks)]
    if len(took) < _LEAST_STEPS:
        return None
    low, median, high = statistics.quantiles(took, n=4, method="inclusive")
    return StepTime(median, low, high)


def line_map(texts: Mapping[str, tuple[str, str]]) -> LineMap:
    """Where lines of edited files went; `texts` holds (before, after) by path as sites have it.

    A line that was replaced became all that stands in its place.
    """
    blocks = {path: _blocks(before, after) for path, (before, after) in texts.items()}

    def became(site: str) -> frozenset[str]:
        path, line = split_site(site) or ("", 0)
        if path not in blocks:
            return frozenset({site})
        for tag, first, last, new_first, new_last in blocks[path]:
            if first < line <= last:
                if tag == "equal":
                    return frozenset({f"{path}:{new_first + line - first}"})
                return frozenset(f"{path}:{number + 1}" for number in range(new_first, new_last))
        return frozenset()

    return became


def _blocks(before: str, after: str) -> Sequence[tuple[str, int, int, int, int]]:
    """How one text became the other: kind, lines of the text before, and lines of that after."""
    lines = before.splitlines(), after.splitlines()
    return difflib.SequenceMatcher(None, *lines, autojunk=False).get_opcodes()


def changed_sites(texts: Mapping[str, tuple[str, str]]) -> frozenset[str]:
    """The lines of edited files, as they are now, that an edit put there; `texts` as for `line_map`."""
    return frozenset(
        f"{path}:{number + 1}"
        for path, (before, after) in texts.items()
        for tag, _, _, first, last in _blocks(before, after)
        if tag != "equal"
        for number in range(first, last)
    )
