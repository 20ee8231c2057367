"""Gradients are summed in host memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.reduce_on_host.gradient_exchange import summed_on_devices
from app.diagnosis.rules.reductions import built_from_ops, exchanged, exchanging, sums_gradients_on_host
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.exchanges import among, exchange, exchange_summary
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_host
from app.facts.transfers.transfer import Transfer
from app.judgments.severity import WARNING
from app.views.naming import each


def reduce_on_host(transfer: Transfer) -> dict[str, Any] | None:
    """Gradients of a reduction are summed on the host, which is none of its devices."""
    named = transfer.facts.get("collective")
    if named:
        return _exchanged_over_host(transfer, str(named))
    reduction = built_from_ops(transfer)
    if reduction is None or not sums_gradients_on_host(transfer, reduction):
        return _summed_by_hand(transfer)
    return {"algorithm": reduction.algorithm, "devices": sorted(reduction.devices)}


def _summed_by_hand(transfer: Transfer) -> dict[str, Any] | None:
    """The code copies gradients of several devices to the host and adds them up there, by what is known."""
    place = transfer.fields.get("graph") or 0, transfer.fields.get("loc") or 0
    found = transfer.context.hand_sums.get(place)
    made = transfer.fields.get("producer_op"), transfer.fields.get("producer_loc"), transfer.src
    if found is None or not is_host(transfer.dst) or made not in found.gradients:
        return None
    told = {
        "algorithm": "the code itself",
        "summed_on": transfer.dst,
        "devices": sorted(found.devices),
        "handed_back_at": list(found.back_at),
        "applied_at": list(found.applied_at),
    }
    return {name: value for name, value in told.items() if value}


def _exchanged_over_host(transfer: Transfer, algorithm: str) -> dict[str, Any] | None:
    """The recorder names the device that sums; it may be one of those that exchange."""
    summed_on = transfer.facts.get("summed_on")
    if not isinstance(summed_on, str) or not is_host(summed_on):
        return None
    devices = exchanging(transfer)
    if not devices or summed_on in devices:
        return None
    told = {"algorithm": algorithm, "summed_on": summed_on, "devices": sorted(devices)}
    return told | exchanged(transfer)


def summary(words: TransferWords) -> str:
    """Where they are summed, and by what."""
    return exchange_summary(words, "Gradients are summed in host memory at {at} by {algorithm}, {way}")


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
    fix=summed_on_devices,
)
