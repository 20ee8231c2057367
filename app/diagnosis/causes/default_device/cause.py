"""Nobody named a device, so it ran on the default one, away from its inputs."""

from __future__ import annotations

import dataclasses

from app.diagnosis.cause import Cause, blamed_op, of_line
from app.diagnosis.causes.default_device.example import EXAMPLE
from app.diagnosis.causes.default_device.missing_scopes import creation_context, missing_scope
from app.diagnosis.causes.default_device.rules import Evidence, severity_of, with_origin
from app.diagnosis.dialects import function_scopes
from app.diagnosis.wording.scope_openers import consumer_scope, producer_scope
from app.diagnosis.wording.transfer_words import TransferWords, destination
from app.facts.devices import default_device, in_order, is_gpu, is_host
from app.fixes.scopes.framework_placement import has_strategy
from app.fixes.situation import Draft, Situation
from app.judgments.severity import WARNING
from app.views.naming import each, flat, one, some_of, told

PUT_BESIDE_INPUTS = "Put the op into the device scope of its inputs."
_DRAWS = ("uniform", "normal", "random", "gamma", "poisson", "exponential", "randint", "binomial")
_FOR_A_MODEL = (
    "{maker} at {at} names no context, so it runs on {srcs} in the middle of each step, and what comes of it"
    " is copied to {dsts} at {copied_at} by {call}"
)
_WITHOUT_CONTEXT = {
    "to be sent": "{maker} at {at} names no context, so what it makes lies on {srcs}, only to be copied to"
    " {dsts} by {call}",
    "only copied": "{maker} at {at} names no context, so what it makes lies on {srcs}, only to be copied to"
    " {dsts} at {copied_at} by {call}",
}


def summary(words: TransferWords, evidence: Evidence) -> str:
    """Which op has no scope and where it ran; only what it takes tells what it is away from."""
    taking = [hop for hop in words.part if hop.cause.blames != "producer"]
    if not 0 < len(taking) < len(words.part):
        return _unplaced(words, evidence)
    users = in_order(hop.dst for hop in words.part if hop.cause.blames == "producer")
    said = _unplaced(dataclasses.replace(words, part=taking), evidence)
    return f"{said}, and used on {some_of(users, 'devices')}"


def _unplaced(words: TransferWords, evidence: Evidence) -> str:
    if evidence.made_without_context:
        return words.say(
            _WITHOUT_CONTEXT.get(one(evidence.from_nothing), _FOR_A_MODEL),
            maker=next(iter(flat(evidence.made_without_context)), "an op"),
            copied_at=some_of(each(evidence.copied_at), "lines") or "an unknown line",
        )
    if words.by_producer:
        return words.say("{producer} at {at} has no device scope and runs on {default}, used on {dsts}")
    return words.say(
        "{consumers} at {at} {has} no device scope and {runs} on {default}, away from {its} {inputs} on"
        " {srcs}"
    )


def because(evidence: Evidence) -> str:
    """Nobody asked for a device, so an op got the default one."""
    if evidence.result_of_a_call:
        return function_scopes.BECAUSE
    if evidence.made_without_context:
        return (
            "An array that nobody gave a context lies on the current one, cpu(0) by default; ops on such"
            " arrays run there, and nothing else of the host goes in."
        )
    if evidence.producer_default_device:
        wanted = told(evidence.requested, "devices") or told(evidence.called_on, "devices")
        default = told(evidence.producer_default_device)
        return (
            f"No device was requested for the producer, so it got the default, {default}; its consumer was"
            f" requested on {wanted}{consumer_scope(evidence)}."
        )
    return (
        f"No device was requested here, so it got the default, {told(evidence.default_device)};"
        f" its input was made on {told(evidence.src, 'devices')}{producer_scope(evidence)}."
    )


def advice(evidence: Evidence) -> str | None:
    """The scope, or the context, that is missing; None for a library's own op, which no scope would move."""
    if evidence.result_of:
        return None
    start = next(iter(each(evidence.src)), "its device")
    if said := function_scopes.advice(evidence, start):
        return said
    if evidence.made_without_context:
        return _made_there(evidence)
    if evidence.cut_on_host:
        return (
            "Nothing, while the data comes from the host; to keep it so where a GPU is the default device,"
            ' cut it in tf.device("/CPU:0").'
        )
    return _scope(evidence)


def _made_there(evidence: Evidence) -> str:
    ops, at = flat(evidence.made_without_context), " and ".join(flat(evidence.made_at))
    draws = any(part in op for op in ops for part in _DRAWS)
    return (
        f"Make it on {destination(evidence)} from the start, by ctx= of the call at {at or 'its line'}: then"
        f" nothing crosses{'; a device draws other numbers than the host' if draws else ''}."
    )


def _scope(evidence: Evidence) -> str:
    """The scope that the op should have; not one that would take it off a GPU."""
    ran_on = one(evidence.default_device or evidence.producer_default_device)
    host = any(map(is_host, [*each(evidence.src), *each(evidence.dst)]))
    if is_gpu(ran_on) and host and evidence.of_python_data is not True:
        return f"Keep it on {ran_on}, and move there what the host does with it, if nothing prevents that."
    return PUT_BESIDE_INPUTS


def fix(situation: Situation) -> Draft | None:
    """The scope, or in MXNet the context; None for a batch that is cut on the host, where it comes from."""
    if situation.evidence(Evidence).cut_on_host:
        return None
    if situation.framework == "mxnet":
        return creation_context(situation)
    return missing_scope(situation)


def line_advice(situation: Situation, said: str) -> str | None:
    """What to do in place of `said`, the advice for any such op; None where nothing fits."""
    if function_scopes.placed_by_strategy(situation):
        return None
    used_on = in_order({hop.dst for hop in situation.hops})
    made = all(hop.cause.blames == "producer" for hop in situation.hops)
    if said == PUT_BESIDE_INPUTS and made and len(used_on) == 1 and situation.framework == "tensorflow":
        return f"Make it in the device scope of {used_on[0]}, which uses it."
    default = default_device(situation.devices, "")
    device = situation.src
    stmt = next(iter(situation.simple), None)
    if said != PUT_BESIDE_INPUTS or stmt is None or device in (None, default):
        return said
    homes = situation.ran.homes(situation.sites(stmt))
    if situation.framework != "tensorflow" or default not in homes:
        return said
    if has_strategy(situation):
        return None  # which keeps its variables where it means to
    return (
        f"It uses variables on {default} too: create these in the device scope of {device}, and put the op"
        " there with them; one without the other sends them in each step."
    )


CAUSE = Cause(
    code="default-device",
    severity=WARNING,
    evidence=Evidence,
    meaning=(
        "Nobody named a device, so it ran on the default one, away from its inputs. In MXNet: each step"
        " creates an array there only to copy it to a GPU."
    ),
    example=EXAMPLE,
    sometimes="warning; note where it is rare or small, or a function is given or returns it",
    summary=summary,
    because=because,
    advice=advice,
    line_advice=line_advice,
    act=of_line,
    fix=fix,
    severity_of=severity_of,
    with_lines=with_origin,
    op_named=blamed_op,
)
