"""Gradients are summed in host memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.exchanges import among, exchange, exchanged
from app.diagnosis.wording.transfer_words import Crossing
from app.fixes.replicas.gradient_exchange import reduce_on_host
from app.judgments.severity import WARNING
from app.views.naming import each


def summary(crossing: Crossing) -> str:
    """Where they are summed, and by what."""
    return exchanged(crossing, "Gradients are summed in host memory at {at} by {algorithm}, {way}")


def because(facts: Facts) -> str:
    """Whose gradients they are, and where the sum goes."""
    end = ""
    if "handed_back_at" in facts:
        end = f"goes back to them at {facts.told('handed_back_at', 'lines')}."
    elif "applied_at" in facts:
        at = facts.told("applied_at", "lines")
        end = f"changes variables there at {at}, which the devices read for the next step."
    devices = among(facts)
    if not end or not devices:
        return exchange(facts)
    return (
        f"Gradients of {devices} are copied to {facts.told('summed_on', 'devices')} and put together"
        f" there{facts.scope('scope')}; the result {end}"
    )


def advice(evidence: Mapping[str, Any]) -> str:
    """To sum on a device, by what sums."""
    if evidence.get("handed_back_at"):
        home = next(iter(each(evidence.get("devices"))), "one")
        return (
            f"Put the gradients together on {home}, one of the devices that have them: then each goes there"
            " straight."
        )
    if evidence.get("applied_at"):
        return (
            "Keep a copy of the variables on each device and sum between the devices, as"
            " tf.distribute.MirroredStrategy does: then neither gradients nor weights pass the host."
        )
    if any(name.startswith("kvstore") for name in each(evidence.get("algorithm"))):
        return "Choose the kvstore 'device' ('dist_device_sync' for several workers): it sums on the devices."
    return "Choose a reduction that sums on the devices."


CAUSE = Cause(
    code="reduce-on-host",
    severity=WARNING,
    meaning="Gradients are summed in host memory.",
    summary=summary,
    because=because,
    advice=advice,
    act=of_line,
    fix=reduce_on_host,
)
