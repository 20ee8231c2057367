"""How well findings agree with labels: per case, and over all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.labelled.cases import Case, Label, severe_enough
from probes.trace.guard import FAILED

Row = Mapping[str, Any]
"""A finding as a report has it."""


@dataclasses.dataclass(frozen=True)
class Told:
    """A warning or error, as a miss list names it."""

    site: str | None
    code: str
    summary: str

    def __str__(self) -> str:
        return f"{self.code} {self.site or 'no line'}"


@dataclasses.dataclass(frozen=True)
class Missed:
    """A label that was not found, and what stands at its line instead."""

    label: Label
    instead: tuple[str, ...]
    """Codes told at its line, with their severity."""
    elsewhere: tuple[str, ...]
    """Lines at which its code is told and where no label wants it."""
    wrong: bool
    """The line is told with other causes only, and `unknown` is not among them."""


@dataclasses.dataclass(frozen=True)
class Score:
    """Of one case."""

    case: str
    framework: str
    labels: int
    found: tuple[Label, ...]
    missed: tuple[Missed, ...]
    false: tuple[Told, ...]
    """Warnings and errors that no label has."""
    warnings: int
    """Warnings and errors in all."""
    failure: str = ""
    """Why there is no report, '' where there is one."""

    @property
    def wrong(self) -> tuple[Missed, ...]:
        return tuple(miss for miss in self.missed if miss.wrong)

    @property
    def inexact(self) -> tuple[Missed, ...]:
        """Labels whose code was told, but not at their line."""
        return tuple(miss for miss in self.missed if miss.elsewhere)

    @property
    def reached(self) -> bool:
        return not (self.missed or self.false or self.failure)


@dataclasses.dataclass(frozen=True)
class Totals:
    """Over several cases; a share is None where there is nothing to share."""

    cases: int
    negative: int
    reached: int
    labels: int
    found: int
    warnings: int
    false: int
    inexact: int
    wrong: int
    failed: int

    @property
    def recall(self) -> float | None:
        """Labels found, by code and exact line, of all labels."""
        return self.found / self.labels if self.labels else None

    @property
    def precision(self) -> float | None:
        """Warnings and errors that a label has, of all."""
        return 1 - self.false / self.warnings if self.warnings else None

    @property
    def exact(self) -> float | None:
        """Labels at their very line, of those whose code was told in the case."""
        told = self.found + self.inexact
        return self.found / told if told else None

    def row(self) -> dict[str, Any]:
        shares = {"recall": self.recall, "precision": self.precision, "exact": self.exact}
        return dataclasses.asdict(self) | shares


def score_report(case: Case, report: Mapping[str, Any]) -> Score:
    """A case's score, from its report; that of a failed one where the recorder itself failed."""
    broken = [f"{row['what']}: {row['why']}" for row in report.get("unseen", ()) if FAILED in row["why"]]
    return failed(case, "; ".join(broken)) if broken else score(case, report["findings"])


def score(case: Case, findings: Sequence[Row]) -> Score:
    """A case's score, from its report's findings."""
    required = [label for label in case.labels if label.required]
    found = [label for label in required if any(_is(row, label) for row in findings)]
    missed = [_missed(label, case, findings) for label in required if label not in found]
    told = [row for row in findings if row["severity"] != "info"]
    false = [Told(row["site"], row["code"], row["summary"]) for row in told if not _allowed(row, case)]
    return Score(
        case.name, case.framework, len(required), tuple(found), tuple(missed), tuple(false), len(told)
    )


def failed(case: Case, why: str) -> Score:
    """The score of a case whose script did not end as it should."""
    required = [label for label in case.labels if label.required]
    missed = tuple(Missed(label, (), (), False) for label in required)
    return Score(case.name, case.framework, len(required), (), missed, (), 0, why)


def totals(scores: Iterable[Score], negative: Iterable[str] = ()) -> Totals:
    """The sums over some cases' scores; `negative` are the names of negative cases."""
    every, quiet = list(scores), set(negative)
    return Totals(
        cases=len(every),
        negative=sum(one.case in quiet for one in every),
        reached=sum(one.reached for one in every),
        labels=sum(one.labels for one in every),
        found=sum(len(one.found) for one in every),
        warnings=sum(one.warnings for one in every),
        false=sum(len(one.false) for one in every),
        inexact=sum(len(one.inexact) for one in every),
        wrong=sum(len(one.wrong) for one in every),
        failed=sum(bool(one.failure) for one in every),
    )


def _is(row: Row, label: Label) -> bool:
    same = row["code"] == label.code and row["site"] == label.site
    return same and severe_enough(row["severity"], label.least)


def _allowed(row: Row, case: Case) -> bool:
    return row["code"] in case.may or any(
        label.code == row["code"] and label.site == row["site"] for label in case.labels
    )


def _missed(label: Label, case: Case, findings: Sequence[Row]) -> Missed:
    here = [row for row in findings if row["site"] == label.site]
    codes = {row["code"] for row in here}
    labelled = {other.code for other in case.labels if other.site == label.site}
    elsewhere = [
        row["site"] or "no line"
        for row in findings
        if row["code"] == label.code and row["site"] != label.site and not _allowed(row, case)
    ]
    wrong = bool(codes) and not codes & (labelled | {"unknown"})
    instead = tuple(f"{row['severity']} {row['code']}" for row in here)
    return Missed(label, instead, tuple(dict.fromkeys(elsewhere)), wrong)
