"""Gradients are summed in host memory."""

from __future__ import annotations

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.reduce_on_host.evidence import Evidence
from app.diagnosis.causes.reduce_on_host.example import EXAMPLE
from app.diagnosis.causes.reduce_on_host.gradient_exchange import summed_on_devices
from app.diagnosis.rules.reductions import built_from_ops, exchanged, exchanging, sums_gradients_on_host
from app.diagnosis.wording.exchanges import among, exchange, exchange_summary
from app.diagnosis.wording.scope_openers import consumer_scope
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_host
from app.facts.transfers.transfer import Transfer
from app.judgments.severity import WARNING
from app.views.naming import each, flat, told


def reduce_on_host(transfer: Transfer) -> Evidence | None:
    """Gradients of a reduction are summed on the host, which is none of its devices."""
    named = transfer.facts.get("collective")
    if named:
        return _exchanged_over_host(transfer, str(named))
    reduction = built_from_ops(transfer)
    if reduction is None or not sums_gradients_on_host(transfer, reduction):
        return _summed_by_hand(transfer)
    return Evidence(algorithm=reduction.algorithm, devices=sorted(reduction.devices))


def _summed_by_hand(transfer: Transfer) -> Evidence | None:
    """The code copies gradients of several devices to the host and adds them up there, by what is known."""
    place = transfer.fields.get("graph") or 0, transfer.fields.get("loc") or 0
    found = transfer.context.hand_sums.get(place)
    made = transfer.fields.get("producer_op"), transfer.fields.get("producer_loc"), transfer.src
    if found is None or not is_host(transfer.dst) or made not in found.gradients:
        return None
    return Evidence(
        algorithm="the code itself",
        summed_on=transfer.dst,
        devices=sorted(found.devices) or None,
        handed_back_at=list(found.back_at) or None,
        applied_at=list(found.applied_at) or None,
    )


def _exchanged_over_host(transfer: Transfer, algorithm: str) -> Evidence | None:
    """The recorder names the device that sums; it may be one of those that exchange."""
    summed_on = transfer.facts.get("summed_on")
    if not isinstance(summed_on, str) or not is_host(summed_on):
        return None
    devices = exchanging(transfer)
    if not devices or summed_on in devices:
        return None
    return exchanged(transfer, Evidence(algorithm=algorithm, summed_on=summed_on, devices=sorted(devices)))


def summary(words: TransferWords, evidence: Evidence) -> str:
    """Where they are summed, and by what."""
    return exchange_summary(
        words, evidence, "Gradients are summed in host memory at {at} by {algorithm}, {way}"
    )


def because(evidence: Evidence) -> str:
    """Whose gradients they are, and where the sum goes."""
    end = ""
    if evidence.handed_back_at:
        end = f"goes back to them at {told(evidence.handed_back_at, 'lines')}."
    elif evidence.applied_at:
        at = told(evidence.applied_at, "lines")
        end = f"changes variables there at {at}, which the devices read for the next step."
    devices = among(evidence)
    if not end or not devices:
        return exchange(evidence)
    return (
        f"Gradients of {devices} are copied to {told(evidence.summed_on, 'devices')} and put together"
        f" there{consumer_scope(evidence)}; the result {end}"
    )


def advice(evidence: Evidence) -> str:
    """To sum on a device, by what sums."""
    if evidence.handed_back_at:
        home = next(iter(flat(evidence.devices)), "one")
        return (
            f"Put the gradients together on {home}, one of the devices that have them: then each goes there"
            " straight."
        )
    if evidence.applied_at:
        return (
            "Keep a copy of the variables on each device and sum between the devices, as"
            " tf.distribute.MirroredStrategy does: then neither gradients nor weights pass the host."
        )
    if any(name.startswith("kvstore") for name in each(evidence.algorithm)):
        return "Choose the kvstore 'device' ('dist_device_sync' for several workers): it sums on the devices."
    return "Choose a reduction that sums on the devices."


CAUSE = Cause(
    code="reduce-on-host",
    severity=WARNING,
    evidence=Evidence,
    meaning="Gradients are summed in host memory.",
    example=EXAMPLE,
    summary=summary,
    because=because,
    advice=advice,
    act=of_line,
    fix=summed_on_devices,
)
