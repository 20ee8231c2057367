"""A kernel, or the call of a function, keeps it in host memory."""

from __future__ import annotations

import dataclasses

from app.diagnosis.cause import Cause
from app.diagnosis.causes.host_memory.example import EXAMPLE
from app.diagnosis.wording.evidence_labels import Label
from app.diagnosis.wording.transfer_words import TransferWords
from app.facts.devices import is_gpu, is_host
from app.facts.kernels.kernel_table import takes_on_host
from app.facts.transfers.transfer import Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.severity import INFO
from app.views.naming import each, some_of, told


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of what is in host memory."""

    kept_in_host_memory: Known[str] = None
    """argument or result."""
    dtype: Known[str] = None
    device: Known[str] = None
    """Whose kernel keeps it there."""
    kept_by_kernel_of: Known[str] = None
    argument_made_by: Known[str] = None
    handed_over: Known[bool] = None
    """The call of a function keeps it there."""
    lay_on: Known[str] = None
    """Where it was before."""
    prefers_host: Known[bool] = None
    on_a_gpu: Known[str] = None
    """Where a GPU would have it."""


def handed_over_on_host(transfer: Transfer) -> Evidence | None:
    """Functions take and return some types in host memory, wherever the tensor lay or is used."""
    lay, returned = transfer.facts.get("argument_lay_on"), transfer.facts.get("result_of_function")
    if not is_host(transfer.src) or not (lay or returned):
        return None
    return Evidence(
        kept_in_host_memory="result" if returned else "argument",
        dtype=transfer.dtype,
        argument_made_by=transfer.producer_op,
        handed_over=True,
        lay_on=None if returned else lay,
    )


def taken_on_host_by_gpus(transfer: Transfer) -> Evidence | None:
    """A stand-in is sent what a GPU's kernel of the op would take from host memory, as it is."""
    slots = transfer.facts.get("input_slots")
    played = transfer.context.places_ops and not is_gpu(transfer.dst) and not is_host(transfer.dst)
    if not played or not is_host(transfer.src) or not isinstance(slots, list):
        return None
    op, dtype = transfer.op, transfer.dtype
    if not slots or not all(isinstance(slot, int) and takes_on_host(op, slot, dtype) for slot in slots):
        return None
    return Evidence(kept_in_host_memory="argument", dtype=dtype, on_a_gpu="stays in host memory")


def host_memory(transfer: Transfer) -> Evidence | None:
    """A GPU kernel keeps the argument or the result in host memory."""
    for end, other, memory, role in (
        (transfer.dst, transfer.src, "dst_memory", "argument"),
        (transfer.src, transfer.dst, "src_memory", "result"),
    ):
        kept = is_gpu(end) and transfer.fields.get(memory) == "host"
        if kept and (other == end or is_host(other)):
            maker = transfer.facts.get("kept_by_kernel_of") or transfer.producer_op
            return Evidence(
                kept_in_host_memory=role,
                device=end,
                dtype=transfer.dtype,
                kept_by_kernel_of=maker if role == "result" else None,
            )
    return None


def preferred_on_host(transfer: Transfer) -> Evidence | None:
    """TensorFlow has kernels of an end's op for GPUs too, and gives those for the host precedence."""
    by_consumer = transfer.blames == "consumer"
    # optional_ops.cc registers this one so; Keras' loop hands on what a step returns by it.
    known = by_consumer and transfer.op == "OptionalFromValue" and not transfer.requested
    prefers = transfer.own_fact("preferred_on_host") or known
    if not prefers or not is_host(transfer.here) or not is_gpu(transfer.there):
        return None
    return Evidence(kept_in_host_memory="argument" if by_consumer else "result", prefers_host=True)


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


def summary(words: TransferWords, evidence: Evidence) -> str:
    """What is in host memory, and whose kernel keeps it there."""
    kept = each(evidence.kept_in_host_memory)
    if evidence.prefers_host:
        op, of_it = ("producer", "it") if words.by_producer else ("consumers", "{it}")
        return words.say(
            f"TensorFlow runs {{{op}}} at {{at}} on the host though GPUs have a kernel of {of_it}, {{way}}"
        )
    if evidence.handed_over or evidence.on_a_gpu:
        return words.say(_HANDED.get(", ".join(kept), _TAKEN) if evidence.handed_over else _TAKEN)
    if evidence.kept_in_host_memory == "result":
        return words.say(
            "{consumers} at {at} {takes} on {dsts} what the kernel of {makers} leaves in the host's memory",
            makers=some_of(each(evidence.kept_by_kernel_of), "ops") or "an op",
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


def because(evidence: Evidence) -> str:
    """A kernel keeps arguments or results in host memory."""
    dtype = f" of type {told(evidence.dtype, 'types')}" if evidence.dtype else ""
    kept = f"{told(evidence.kept_in_host_memory)}{dtype}"
    if evidence.handed_over:
        return _handed_over(evidence)
    if evidence.on_a_gpu:
        return (
            f"A GPU's kernel takes this {kept} from host memory, where it is: on a GPU nothing would cross."
        )
    return f"The kernel on {told(evidence.device, 'devices')} keeps this {kept} in host memory."


def _handed_over(evidence: Evidence) -> str:
    rule = (
        f"A tf.function takes and returns tensors of type {told(evidence.dtype, 'types')} in host memory,"
        " whichever devices made them or use them."
    )
    lay = f" This one lay on {told(evidence.lay_on, 'devices')}." if evidence.lay_on else ""
    return f"{rule}{lay} What a GPU made is copied to the host for the call, and back for an op on a GPU."


CAUSE = Cause(
    code="host-memory",
    severity=INFO,
    evidence=Evidence,
    meaning="A kernel, or the call of a function, keeps it in host memory.",
    example=EXAMPLE,
    summary=summary,
    because=because,
    labels={"prefers_host": Label("TensorFlow prefers its kernel for the host")},
)
