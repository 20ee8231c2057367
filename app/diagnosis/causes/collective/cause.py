"""Devices exchange or sum their tensors."""

from __future__ import annotations

import dataclasses

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.collective.example import EXAMPLE
from app.diagnosis.rules.reductions import built_from_ops, exchanged, exchanging, sums_gradients_on_host
from app.diagnosis.wording.exchanges import exchange, exchange_summary
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import ExchangeEvidence
from app.judgments.severity import INFO


def collective(transfer: Transfer) -> ExchangeEvidence | None:
    """A part of a reduction: said by the recorder, or a sum at the line and between the devices of one."""
    named = transfer.facts.get("collective")
    if named:
        return dataclasses.replace(
            exchanged(transfer, ExchangeEvidence(algorithm=str(named))),
            summed_on=transfer.facts.get("summed_on") or None,
            devices=sorted(exchanging(transfer)) or None,
        )
    reduction = built_from_ops(transfer)
    if reduction is None or sums_gradients_on_host(transfer, reduction):
        return None
    return ExchangeEvidence(algorithm=reduction.algorithm, devices=sorted(reduction.devices))


def summary(words: TransferWords, evidence: ExchangeEvidence) -> str:
    """What is exchanged, and how; of a kvstore also that it hands it out."""
    said = "Devices reduce their tensors at {at} by {algorithm}{summed}, {way}"
    if words.first.op.endswith("pull") and words.consumers == words.first.op:
        said = "At {at} {algorithm} copies {exchanged} to the devices, {way}"
    return exchange_summary(words, evidence, said)


CAUSE = Cause(
    code="collective",
    severity=INFO,
    evidence=ExchangeEvidence,
    meaning="Devices exchange or sum their tensors.",
    example=EXAMPLE,
    summary=summary,
    because=exchange,
    act=of_line,
)
