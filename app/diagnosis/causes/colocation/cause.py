"""It was kept beside a variable, a table or an iterator."""

from __future__ import annotations

import ast

from app.diagnosis.cause import Cause
from app.diagnosis.causes.colocation.example import EXAMPLE
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.transfers.transfer import READS, Transfer
from app.fixes.code.change import Change
from app.fixes.code.device_notation import tensorflow, tf_device
from app.fixes.code.names import called, dotted, value_of
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import TransferEvidence
from app.judgments.severity import INFO
from app.views.naming import told

ITERATORS = frozenset(
    {"IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional", "OptionalHasValue"}
    | {"OptionalGetValue", "MultiDeviceIteratorGetNextFromShard"}
)


def colocation(transfer: Transfer) -> TransferEvidence | None:
    """The consumer was kept beside a variable or resource, not where the code asked."""
    beside = transfer.facts.get("colocated_with")
    return TransferEvidence(colocated_with=beside) if beside and transfer.requested != transfer.dst else None


def works_at_home(transfer: Transfer) -> TransferEvidence | None:
    """The consumer works on a variable or table, and runs where that lives, not where the code asked."""
    return _at_home(transfer) if transfer.requested and transfer.requested != transfer.dst else None


def works_away_from_default(transfer: Transfer) -> TransferEvidence | None:
    """The consumer works on a variable or table that does not live where ops go that nobody placed."""
    return _at_home(transfer) if not transfer.requested and transfer.dst != transfer.default else None


def _at_home(transfer: Transfer) -> TransferEvidence | None:
    name = transfer.facts.get("works_on")
    return TransferEvidence(colocated_with=name, lives_on=transfer.dst) if name else None


def made_at_home(transfer: Transfer) -> TransferEvidence | None:
    """The producer works on a table or the like, and ran where that lives, not where the code asked."""
    name = transfer.facts.get("producer_works_on")
    asked = transfer.producer_requested or transfer.producer_default
    if not name or transfer.producer_op in READS or asked == transfer.src:
        return None
    return TransferEvidence(producer_placed_beside=name, lives_on=transfer.src)


def made_beside_iterator(transfer: Transfer) -> TransferEvidence | None:
    """The producer takes the next element of an input pipeline, which it can do only where that lives."""
    asked = transfer.producer_requested
    if transfer.producer_op not in ITERATORS or asked == transfer.src:
        return None
    home = transfer.src if asked else None
    return TransferEvidence(producer_colocated_with="the input pipeline's iterator", lives_on=home)


def made_beside(transfer: Transfer) -> TransferEvidence | None:
    """The producer asked for no device and was put beside an op that did."""
    beside = not transfer.producer_requested and transfer.facts.get("producer_colocated_with")
    return TransferEvidence(producer_placed_beside=beside) if beside else None


def _beside(evidence: TransferEvidence) -> str:
    known = evidence.colocated_with or evidence.producer_colocated_with or evidence.producer_placed_beside
    return told(known, "ops")


def summary(words: TransferWords, evidence: TransferEvidence) -> str:
    """Which op is kept beside what."""
    said = "{consumers} at {at} {is} kept beside {beside}, {way}"
    if words.by_producer:
        said = "{producer} at {at} runs beside {beside} on {src}, used on {dsts}"
    return words.say(said, beside=_beside(evidence))


def because(evidence: TransferEvidence) -> str:
    """An op runs where what it works on, or stands beside, lives."""
    asked = evidence.requested if evidence.colocated_with else evidence.producer_requested
    wanted = f" Requested: {told(asked, 'devices')}." if told(asked) else ""
    if evidence.lives_on:
        home = told(evidence.lives_on, "devices")
        return f"It works on {_beside(evidence)} and runs where that lives, {home}.{wanted}"
    return f"It stands in one colocation group with {_beside(evidence)}.{wanted}"


def advice(evidence: TransferEvidence) -> str | None:
    """Of an input pipeline, whose elements may come to another device; None for what has its place."""
    if not evidence.producer_colocated_with:
        return None
    return "Let the input pipeline deliver to the device that uses its elements."


_AHEAD = frozenset({"prefetch", "prefetch_to_device", "copy_to_device", "experimental_distribute_dataset"})


def prefetched(situation: Situation) -> Draft | None:
    """The pipeline of the loop's header, or of the loop around the line, prepares elements ahead.

    None for what is kept beside a variable: no pipeline delivers that.
    """
    source = situation.source
    if (
        situation.framework != "tensorflow"
        or not situation.evidence(TransferEvidence).producer_colocated_with
    ):
        return None
    for stmt in situation.statements:
        loop = stmt if isinstance(stmt, ast.For | ast.AsyncFor) else source.loop_of(stmt)
        while loop is not None:
            if isinstance(loop, ast.For) and (draft := _pipeline(situation, loop)) is not None:
                return draft
            loop = source.loop_of(loop)
    return None


def _pipeline(situation: Situation, loop: ast.For) -> Draft | None:
    """The input pipeline that the loop goes over prepares ahead, if it does not already."""
    source, over = situation.source, loop.iter
    while isinstance(over, ast.Call) and called(over) in ("enumerate", "tqdm", "iter") and over.args:
        over = over.args[0]
    value = value_of(source, over.id, loop) if isinstance(over, ast.Name) else over
    if not isinstance(value, ast.Call) or (tf := tensorflow(source, value)) is None:
        return None
    paths = [dotted(part) for part in ast.walk(value)]
    names = {part.attr for part in ast.walk(value) if isinstance(part, ast.Attribute)}
    if names & _AHEAD or not any(path.startswith(f"{tf}.data.") for path in paths):
        return None
    change, device = Change(source), situation.dst
    argument = tf_device(source, value, device) if device else None
    if argument is not None and "gpu" in argument.lower():
        added = f".apply({tf}.data.experimental.prefetch_to_device({argument}))"
        words = (
            f"Has elements prepared ahead and delivered on {device}; it has to be the pipeline's last step."
        )
    else:
        added = f".prefetch({tf}.data.AUTOTUNE)"
        words = (
            "Has elements prepared while a step runs; they are still copied to the device when they are used."
        )
    change.insert(source.span(value)[1], added)
    return situation.draft(words, change)


CAUSE = Cause(
    code="colocation",
    severity=INFO,
    evidence=TransferEvidence,
    meaning="It was kept beside a variable, a table or an iterator.",
    example=EXAMPLE,
    summary=summary,
    because=because,
    advice=advice,
    act=lambda hop: (hop.src, hop.dst, hop.cause.blames),
    fix=prefetched,
)
