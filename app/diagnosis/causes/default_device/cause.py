"""Nobody named a device, so it ran on the default one, away from its inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.diagnosis.cause import Cause, blamed_op, of_line
from app.diagnosis.causes.default_device.line_advice import PUT_BESIDE_INPUTS, line_advice
from app.diagnosis.causes.default_device.rules import severity_of, with_origin
from app.diagnosis.dialects import function_scopes
from app.diagnosis.wording.ends import destination, source
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import in_order, is_gpu, is_host
from app.fixes.contexts.creation_contexts import default_context
from app.fixes.scopes import device_scopes
from app.fixes.situation import Draft, Situation
from app.judgments.severity import WARNING
from app.views.naming import each, flat, one, some_of

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


def summary(words: TransferWords) -> str:
    """Which op has no scope and where it ran; only what it takes tells what it is away from."""
    taking = [hop for hop in words.part if hop.cause.blames != "producer"]
    if not 0 < len(taking) < len(words.part):
        return _unplaced(words)
    users = in_order(hop.dst for hop in words.part if hop.cause.blames == "producer")
    said = _unplaced(dataclasses.replace(words, part=taking))
    return f"{said}, and used on {some_of(users, 'devices')}"


def _unplaced(words: TransferWords) -> str:
    evidence = words.evidence
    if evidence.get("made_without_context"):
        return words.say(
            _WITHOUT_CONTEXT.get(one(evidence.get("from_nothing")), _FOR_A_MODEL),
            maker=next(iter(flat(evidence["made_without_context"])), "an op"),
            copied_at=some_of(each(evidence.get("copied_at")), "lines") or "an unknown line",
        )
    if words.by_producer:
        return words.say("{producer} at {at} has no device scope and runs on {default}, used on {dsts}")
    return words.say(
        "{consumers} at {at} {has} no device scope and {runs} on {default}, away from {its} {inputs} on"
        " {srcs}"
    )


def because(facts: Facts) -> str:
    """Nobody asked for a device, so an op got the default one."""
    if "result_of_a_call" in facts:
        return function_scopes.because(facts)
    if "made_without_context" in facts:
        return _without_context(facts)
    return f"{_by_default(facts)}{_apart(facts)}"


def _apart(facts: Facts) -> str:
    """Of what ran in a thread beside the one that has a scope open."""
    opened = facts.told("scope_apart", "lines")
    if not opened:
        return ""
    return (
        f" The op ran in a thread of its own: a device scope, as the one opened at {opened}, holds only in"
        " the thread that opens it."
    )


def _by_default(facts: Facts) -> str:
    if "producer_default_device" in facts:
        wanted = facts.told("requested", "devices") or facts.told("called_on", "devices")
        if "cut_on_host" in facts:
            return f"It cuts what lies on the host, and each device gets its part: {wanted}."
        return (
            f"No device was requested for the producer, so it got the default,"
            f" {facts.told('producer_default_device')}; its consumer was requested on"
            f" {wanted}{facts.scope('scope')}."
        )
    inputs = facts.told("src", "devices")
    return (
        f"No device was requested here, so it got the default, {facts.told('default_device')};"
        f" its input was made on {inputs}{facts.scope('producer_scope')}."
    )


def _without_context(facts: Facts) -> str:
    makers, at = facts.told("made_without_context", "ops"), facts.told("made_at", "lines")
    several = len(facts.each("made_at")) > 1
    where = f"{'Arrays' if several else 'An array'} of {makers}{at and f' at {at}'}"
    lie = "lie" if several else "lies"
    return (
        f"{where} that nobody gave a context {lie} on the current one, cpu(0) by default; ops on such arrays"
        " run there, and nothing else of the host goes in."
    )


def advice(evidence: Mapping[str, Any]) -> str | None:
    """The scope, or the context, that is missing; None for a library's own op, which no scope would move."""
    if evidence.get("result_of"):
        return None
    start = next(iter(each(evidence.get("src"))), "its device")
    if said := function_scopes.advice(evidence, start):
        return said
    if evidence.get("made_without_context"):
        return _made_there(evidence)
    if evidence.get("cut_on_host"):
        return (
            "Nothing, while the data comes from the host; to keep it so where a GPU is the default device,"
            ' cut it in tf.device("/CPU:0").'
        )
    return _scope(evidence)


def _made_there(evidence: Mapping[str, Any]) -> str:
    ops, at = flat(evidence.get("made_without_context")), " and ".join(flat(evidence.get("made_at")))
    draws = any(part in op for op in ops for part in _DRAWS)
    return (
        f"Make it on {destination(evidence)} from the start, by ctx= of the call at {at or 'its line'}: then"
        f" nothing crosses{'; a device draws other numbers than the host' if draws else ''}."
    )


def _scope(evidence: Mapping[str, Any]) -> str:
    """The scope that the op should have; not one that would take it off a GPU."""
    src, dst = each(evidence.get("src")), each(evidence.get("dst"))
    both = bool(src and dst)
    from_gpu = both and all(map(is_gpu, src)) and all(map(is_host, dst))
    to_gpu = both and all(map(is_host, src)) and all(map(is_gpu, dst))
    if from_gpu and evidence.get("producer_default_device") and evidence.get("of_python_data") is not True:
        return (
            f"Take what uses it out of the scope of {destination(evidence)}, if nothing keeps it there: in"
            f" that scope this op would leave {source(evidence)}."
        )
    if to_gpu and evidence.get("default_device"):
        there = destination(evidence)
        return (
            f"Make its input on {there}, where it is computed with: in a scope of its input's device, the"
            f" host, the op would leave {there}."
        )
    if evidence.get("scope_apart"):
        return (
            "Open the device scope inside the function that the thread runs: no scope of another thread holds"
            " there."
        )
    return PUT_BESIDE_INPUTS


def fix(situation: Situation) -> Draft | None:
    """The scope, or in MXNet the context; None for a batch that is cut on the host, where it comes from."""
    if situation.evidence("cut_on_host"):
        return None
    if situation.framework == "mxnet":
        return default_context(situation)
    return device_scopes.default_device(situation)


CAUSE = Cause(
    code="default-device",
    severity=WARNING,
    meaning=(
        "Nobody named a device, so it ran on the default one, away from its inputs. In MXNet: each step"
        " creates an array there only to copy it to a GPU."
    ),
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
