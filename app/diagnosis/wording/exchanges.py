"""Devices that exchange tensors, or sum them: among whom, and by what."""

from __future__ import annotations

from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import in_order
from app.judgments.evidence import ExchangeEvidence
from app.views.naming import each, flat, some_of, told

_SUMMED_ON = ", summed on "
"""In an algorithm's name, which may say already where it sums."""


def exchange_summary(words: TransferWords, evidence: ExchangeEvidence, template: str) -> str:
    """The template with the algorithms, each once, where they sum, and what is exchanged."""
    devices = in_order(each(evidence.summed_on))
    return words.say(
        template,
        algorithm=" and ".join(_algorithms(evidence)),
        summed=f" (summed on {' and '.join(devices)})" if devices else "",
        exchanged=some_of(each(evidence.exchanged), "kinds") or "what they exchange",
    )


def among(evidence: ExchangeEvidence) -> str:
    """The devices, those of several exchanges apart; '' where they are not known."""
    devices = evidence.devices or []
    several = any(isinstance(part, list) for part in devices)
    return ", and among ".join(told(part, "devices") for part in (devices if several else [devices]) if part)


def exchange(evidence: ExchangeEvidence) -> str:
    """Among which devices something is exchanged, and how; '' where the devices are not known."""
    devices = among(evidence)
    if not devices:
        return ""
    summed = f", summed on {told(evidence.summed_on, 'devices')}" if flat(evidence.summed_on) else ""
    what = ""
    if evidence.exchanged:
        what = f": {told(evidence.exchanged)} of {told(evidence.exchanged_of, 'parameters')}"
    return f"Exchanged among {devices} by {some_of(_algorithms(evidence), 'algorithms')}{summed}{what}."


def _algorithms(evidence: ExchangeEvidence) -> list[str]:
    return list(dict.fromkeys(name.partition(_SUMMED_ON)[0] for name in each(evidence.algorithm)))
