"""Gradients are summed in host memory."""

from __future__ import annotations

import ast
import dataclasses

from app.diagnosis.cause import Cause, of_line
from app.diagnosis.causes.reduce_on_host.example import EXAMPLE
from app.diagnosis.rules.reductions import built_from_ops, exchanged, exchanging, sums_gradients_on_host
from app.diagnosis.wording.exchanges import among, exchange, exchange_summary
from app.diagnosis.wording.scope_openers import consumer_scope
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_gpu, is_host
from app.facts.transfers.transfer import Transfer
from app.fixes.code.device_notation import alone, scope_arguments, tf_device
from app.fixes.code.names import called, dotted, keyword, value_of
from app.fixes.code.parsed_source import Source
from app.fixes.situation import Draft, Situation
from app.judgments.evidence import ExchangeEvidence, Known
from app.judgments.severity import WARNING
from app.views.naming import each, flat, told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(ExchangeEvidence):
    """Of gradients that are summed in host memory."""

    handed_back_at: Known[list[str]] = None
    """Lines that use the sum on the devices."""
    applied_at: Known[list[str]] = None
    """Lines that change the host's variables by it."""


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


_ON_DEVICES = {
    "local": "device",
    "local_update_cpu": "device",
    "local_allreduce_cpu": "device",
    "dist_sync": "dist_device_sync",
}
_WITH_KVSTORE = frozenset({"Trainer", "fit", "init_optimizer", "create"})


def summed_on_devices(situation: Situation) -> Draft | None:
    """The kvstore, or the strategy's reduction, that sums on the devices; or the scope that code sums in."""
    if situation.evidence(Evidence).handed_back_at:
        return _sum_on_device(situation)
    if situation.evidence(Evidence).applied_at:
        return None  # another way to keep the variables is more than a line
    return _cross_device_ops(situation) if situation.framework == "tensorflow" else _kvstore(situation)


def _kvstore(situation: Situation) -> Draft | None:
    """The one place that names a kvstore of the host: in the finding's file, else in another of the run."""
    named = [(file, source, one) for file, source in situation.sources for one in _stores(source)]
    place = alone([one for one in named if one[0] == situation.file] or named)
    if place is None or (there := situation.at(f"{place[0]}:1")) is None:
        return None
    _, source, store = place
    words = "Sums gradients on the devices: they need memory for that, and rounding may differ a little."
    quote = source.code(store)[0]
    return there.replaced(words, store, f"{quote}{_ON_DEVICES[str(store.value)]}{quote}")


def _stores(source: Source) -> set[ast.Constant]:
    """The texts of a file that name a kvstore of the host, for a Trainer or Module, else as an option."""
    calls = source.every(ast.Call)
    named = [_named_store(source, call) for call in calls if called(call) in _WITH_KVSTORE]
    for found in (named, map(_default_of_option, calls)):
        if stores := {one for one in found if isinstance(one, ast.Constant) and one.value in _ON_DEVICES}:
            return stores
    return set()


def _named_store(source: Source, call: ast.Call) -> ast.expr | None:
    if called(call) == "create":
        about = dotted(call.func).rpartition(".")[0].rpartition(".")[2]
        argument = call.args[0] if call.args and about in ("kv", "kvstore") else None
    else:
        argument = named.value if (named := keyword(call, "kvstore")) else None
    return value_of(source, argument.id, call) if isinstance(argument, ast.Name) else argument


def _default_of_option(call: ast.Call) -> ast.expr | None:
    match call:
        case ast.Call(args=[ast.Constant(value=str(option)), *_]) if called(call) == "add_argument":
            default = keyword(call, "default")
            about = option.lstrip("-").replace("_", "-") in ("kvstore", "kv-store")
            return default.value if default is not None and about else None
    return None


def _sum_on_device(situation: Situation) -> Draft | None:
    """The code adds gradients up in the host's scope: that becomes the first of their devices'."""
    evidence = situation.evidence(Evidence)
    devices, scope = flat(evidence.devices), alone(each(evidence.scope))
    there = situation.at(scope) if scope is not None else None
    if situation.framework != "tensorflow" or there is None or not devices:
        return None
    arguments = (one for one in scope_arguments(there.source) if one.lineno == there.line)
    named = alone([one for one in arguments if isinstance(one, ast.Constant)])
    code = tf_device(there.source, named, devices[0]) if named is not None else None
    if named is None or code is None or not is_host(each(evidence.summed_on)[0]):
        return None
    words = (
        f"Puts the gradients together on {devices[0]}, one of the devices that have them; check that nothing"
        " else in that scope is meant for the host."
    )
    return there.replaced(words, named, code)


def _cross_device_ops(situation: Situation) -> Draft | None:
    calls = situation.source.every(ast.Call)
    call = alone([one for one in calls if called(one) == "ReductionToOneDevice"])
    prefix = dotted(call.func).rpartition(".")[0] if call is not None else ""
    if call is None or not prefix:
        return None
    devices = flat(situation.evidence(Evidence).devices)
    name, words = "HierarchicalCopyAllReduce", "Sums gradients on the devices by copies between them."
    if devices and all(map(is_gpu, devices)):
        name = "NcclAllReduce"
        words = "Sums gradients between the GPUs with NCCL; it needs all of them to be seen by this process."
    return situation.replaced(words, call, f"{prefix}.{name}()")


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
