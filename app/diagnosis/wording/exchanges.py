"""Devices that exchange tensors, or sum them: among whom, and by what."""

from __future__ import annotations

from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import in_order
from app.views.naming import each, some_of

_SUMMED_ON = ", summed on "
"""In an algorithm's name, which may say already where it sums."""


def exchange_summary(words: TransferWords, template: str) -> str:
    """The template with the algorithms, each once, where they sum, and what is exchanged."""
    names = (name.partition(_SUMMED_ON)[0] for name in each(words.evidence.get("algorithm")))
    devices = in_order(each(words.evidence.get("summed_on")))
    return words.say(
        template,
        algorithm=" and ".join(dict.fromkeys(names)),
        summed=f" (summed on {' and '.join(devices)})" if devices else "",
        exchanged=some_of(each(words.evidence.get("exchanged")), "kinds") or "what they exchange",
    )


def among(facts: Facts) -> str:
    """The devices, those of several exchanges apart; '' where they are not known."""
    return ", and among ".join(some_of(part, "devices") for part in facts.lists("devices"))


def exchange(facts: Facts) -> str:
    """Among which devices something is exchanged, and how; '' where the devices are not known."""
    devices = among(facts)
    if not devices:
        return ""
    algorithm = some_of((name.partition(_SUMMED_ON)[0] for name in facts.each("algorithm")), "algorithms")
    summed = f", summed on {facts.told('summed_on', 'devices')}" if "summed_on" in facts else ""
    what = ""
    if "exchanged" in facts:
        what = f": {facts.told('exchanged')} of {facts.told('exchanged_of', 'parameters')}"
    return f"Exchanged among {devices} by {algorithm}{summed}{what}."
