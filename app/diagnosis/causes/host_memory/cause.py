"""A kernel, or the call of a function, keeps it in host memory."""

from __future__ import annotations

from app.diagnosis.cause import Cause
from app.diagnosis.wording.evidence_facts import Facts
from app.diagnosis.wording.evidence_labels import Label
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_gpu
from app.judgments.severity import INFO
from app.views.naming import each, some_of

_HANDED = {
    "argument": "An argument of type {dtype}, made by {argument_made_by}, is handed over in host memory for"
    " {consumers} at {at}, {way}",
    "result": "A result of type {dtype} of {argument_made_by} is handed out in host memory and used on {dsts}"
    " by {consumers} at {at}",
}
_TAKEN = (
    "{consumers} at {at} {is} sent an argument, {way}, that a GPU's kernel would take from host memory as it"
    " is"
)


def summary(words: TransferWords) -> str:
    """What is in host memory, and whose kernel keeps it there."""
    evidence = words.evidence
    kept = each(evidence.get("kept_in_host_memory"))
    if evidence.get("prefers_host"):
        op, of_it = ("producer", "it") if words.by_producer else ("consumers", "{it}")
        return words.say(
            f"TensorFlow runs {{{op}}} at {{at}} on the host though GPUs have a kernel of {of_it}, {{way}}"
        )
    if evidence.get("handed_over") or evidence.get("on_a_gpu"):
        return words.say(_HANDED.get(", ".join(kept), _TAKEN) if evidence.get("handed_over") else _TAKEN)
    if evidence.get("kept_in_host_memory") == "result":
        return words.say(
            "{consumers} at {at} {takes} on {dsts} what the kernel of {makers} leaves in the host's memory",
            makers=some_of(each(evidence.get("kept_by_kernel_of")), "ops") or "an op",
        )
    if len(kept) > 1:
        return words.say(
            "{consumers} at {at} {takes} on {dsts} what kernels keep in host memory, as arguments or as"
            " results"
        )
    return words.say(
        "The {kernels} of {consumers} at {at} {takes} this {kept_in_host_memory} in host memory, {to_host}",
        to_host=some_of((f"{src} to the memory of the host" for src, _ in words.pairs), "ways", ", "),
    )


def because(facts: Facts) -> str:
    """A kernel keeps arguments or results in host memory."""
    kept = facts.told("kept_in_host_memory")
    dtype = f" of type {facts.told('dtype', 'types')}" if "dtype" in facts else ""
    if "handed_over" in facts:
        return _handed_over(facts)
    if "on_a_gpu" in facts:
        return (
            f"A GPU's kernel takes this {kept}{dtype} from host memory, where it is: with GPUs in the"
            " place of these stand-ins nothing would cross."
        )
    if len(facts.each("kept_in_host_memory")) > 1:
        return f"Kernels on {facts.told('device', 'devices')} keep arguments and results{dtype} there."
    if kept == "result":
        return f"The producer's kernel on {facts.told('device', 'devices')} gives it{dtype} in host memory."
    return f"The kernel on {facts.told('device', 'devices')} takes this {kept}{dtype} in host memory."


def _handed_over(facts: Facts) -> str:
    rule = (
        f"A tf.function takes and returns tensors of type {facts.told('dtype', 'types')} in host memory,"
        " whichever devices made them or use them."
    )
    if "lay_on" not in facts:
        return rule
    lay = facts.told("lay_on", "devices")
    if all(map(is_gpu, facts.each("lay_on"))):
        return (
            f"{rule} This one lay on {lay}: it is copied to the host for the call, and back for an op that"
            " takes it in the device's memory."
        )
    return (
        f"{rule} This one lay on {lay}: there, if that is a GPU, it is copied to the host for the call,"
        " and back for an op that takes it in the device's memory; of stand-ins only the way back shows."
    )


CAUSE = Cause(
    code="host-memory",
    severity=INFO,
    meaning="A kernel, or the call of a function, keeps it in host memory.",
    summary=summary,
    because=because,
    labels={"prefers_host": Label("TensorFlow prefers its kernel for the host")},
)
