"""A cause: everything about one reason for which something is slow, wrong or worth a note."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from app.diagnosis.example import Example
from app.diagnosis.wording.evidence_labels import Label
from app.diagnosis.wording.transfer_costs import Telling
from app.diagnosis.wording.transfer_words import UNDECIDED, TransferWords
from app.facts.syncs import Sync
from app.facts.tables import Tables
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import CHANGES, Transfer
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import FindingEvidence
from app.judgments.finding import Finding
from app.judgments.judgment import Judgment
from app.views.naming import some_of
from probes.trace.rows import Key

E = TypeVar("E", bound=FindingEvidence)


@dataclasses.dataclass(frozen=True)
class Run:
    """What a detector sees of a run."""

    tables: Tables
    hops: Sequence[Hop]
    spec: Mapping[str, Any] | None = None
    """What it was launched by; None for a recording without."""

    @property
    def launched(self) -> bool:
        """Whether it ran on devices that are there: a pre-flight makes them up."""
        return self.spec is not None and not self.spec.get("preflight")


def of_line(hop: Hop) -> tuple[str, ...]:
    """One line is the mistake, or the one act, whichever devices it sends between."""
    return ()


def blamed_op(hop: Hop) -> str:
    """The op whose line is to be changed."""
    return hop.producer_op if hop.cause.blames == "producer" else hop.op


def put_back(evidence: E, consequences: Sequence[Hop]) -> tuple[str, E]:
    """That assignments take what the transfers' ops made back to variables."""
    changed = dict.fromkeys(hop.dst for hop in consequences if hop.op.startswith(CHANGES))
    return f", with what goes back to variables on {some_of(changed, 'devices')}" if changed else "", evidence


def of_way(hop: Hop) -> tuple[str, ...]:
    """One call is it, or what one line sends between two devices."""
    call = hop.cause.evidence.call
    return (str(call),) if call else (hop.src, hop.dst)


@dataclasses.dataclass(frozen=True)
class Cause(Generic[E]):
    """One entry of `app.diagnosis.registry.CAUSES`; whatever is left out, the cause does without."""

    code: str
    severity: str
    """How bad it is where the facts say nothing else."""
    evidence: type[E]
    """The record of what it rests on."""
    meaning: str
    """What it is reported for, in one or two sentences of docs/causes.md."""
    example: Example
    """Code that has it, and the same after the fix."""
    sometimes: str = ""
    """The severity in words, in docs/causes.md, where facts change it."""
    summary: str | Callable[[TransferWords, E], str] = UNDECIDED
    """Transfers of the cause in a sentence, without their cost and the full stop; see `TransferWords.say`."""
    because: Callable[[E], str] = lambda evidence: ""
    """What a finding was judged by, in a sentence; '' where its summary says all of it."""
    advice: str | Callable[[E], str | None] | None = None
    """What to change, by the evidence; None where nothing is wrong or nothing is known."""
    line_advice: Callable[[Situation, str], str | None] = lambda situation, said: said
    """The advice in place of that one, by what the finding's line does; None where nothing fits."""
    detect: Callable[[Run], Iterable[Finding]] = lambda run: ()
    """Findings that no transfer tells; those without a fix get the cause's advice."""
    fix: Callable[[Situation], Draft | None] | None = None
    """The change of the code that mends it; None where the text decides for none."""
    act: Callable[[Hop], tuple[str, ...]] = of_way
    """What makes several transfers of one line one finding: those for which it is the same."""
    severity_of: Callable[[Transfer, E], str] = lambda transfer, evidence: ""
    """How bad a transfer is that a rule of `app.diagnosis.judge` gave this evidence; '' for `severity`."""
    with_lines: Callable[[E, Judgment, Key, Tables], Judgment] = lambda evidence, judgment, key, tables: (
        judgment
    )
    """What was judged of a transfer by this evidence, with further lines that belong to it."""
    waits: Callable[[Sequence[Hop], Sequence[Sync]], list[Sync]] = lambda part, syncs: []
    """Those of the run's waits that its transfers tell."""
    evidence_of: Callable[[E, Sequence[Hop], Sequence[Sync]], E] = lambda evidence, part, waits: evidence
    """The evidence of transfers that are one finding: what they have in common, and what all of them show."""
    share: Callable[[Sequence[Hop], Sequence[Sync], E, Telling], str] = (
        lambda part, waits, evidence, telling: telling.costly(waits)
    )
    """``, 38 % of the run``, where they are a good part of it and so a warning; '' else."""
    labels: Mapping[str, Label] = dataclasses.field(default_factory=dict)
    """How the proof of a finding labels evidence of the cause's own; others are in `evidence_labels`."""
    op_named: Callable[[Hop], str] = lambda hop: hop.op
    """The op of a transfer that the summary names."""
    along: Callable[[E, Sequence[Hop]], tuple[str, E]] = put_back
    """What goes with transfers of the cause, in words, and the evidence with it."""
    hides_others: bool = False
    """Its findings stand before others as bad, of which it may hide some."""
