"""Ops that nobody placed, so that they ran on the default device."""

from __future__ import annotations

import dataclasses

from app.diagnosis.causes.default_device.contextless_copies import with_makers
from app.diagnosis.causes.default_device.evidence import Evidence
from app.diagnosis.rules.placements import made_by_code, reads_variable
from app.diagnosis.rules.repeated_copies import sent_again
from app.facts.devices import is_gpu, is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import Transfer
from app.judgments.judgment import Judgment
from app.judgments.severity import INFO, WARNING
from probes.trace.rows import Key

_HANDS_ON = frozenset({"Identity", "IdentityN"})
_CUSTOM_GRADIENTS = "tensorflow/python/ops/custom_gradient.py"
"""What a function of custom gradients returns passes an Identity each, as does what tf.recompute_grad
recomputes from: ops of TensorFlow's own, on the device of the scope that the function is called in."""


def default_placed(transfer: Transfer) -> Evidence | None:
    """Nobody asked for a device for the consumer, and it ran on the default one, away from its input."""
    if transfer.requested or not transfer.made_by_code or transfer.kind in ("upload", "pull"):
        return None
    # A backward op of which nothing is known but that it is one may have its forward op's reasons.
    if transfer.fields.get("forward_loc") and "forward_requested" not in transfer.facts:
        producer_is_backward = "producer_forward_requested" in transfer.facts
        if not producer_is_backward:
            return None
    if transfer.called_on:
        return None  # then somebody did ask: for the whole call
    if is_host(transfer.src) and is_gpu(transfer.dst) and reads_variable(transfer):
        return None  # a GPU is where it should run: it is the variable that is elsewhere
    at_home = transfer.dst == transfer.default == transfer.text("assigned")
    return Evidence(default_device=transfer.default) if at_home and transfer.src != transfer.dst else None


def result_by_default(transfer: Transfer) -> Evidence | None:
    """What a function returns passes the default device: by an Identity of TensorFlow's own, nobody's op."""
    if not transfer.facts.get("result") or transfer.requested:
        return None
    at_home = transfer.dst == transfer.default == transfer.text("assigned") and transfer.src != transfer.dst
    return (
        Evidence(
            default_device=transfer.default,
            result_of_a_call=True,
            result_of=_branch_or_loop(transfer.facts["result"]),
            called_on=transfer.called_on or None,
        )
        if at_home
        else None
    )


def result_handed_on(transfer: Transfer) -> Evidence | None:
    """And goes on from there, to the op that takes it or to be returned in its turn."""
    if not transfer.facts.get("producer_result") or transfer.producer_requested:
        return None
    default = transfer.producer_default
    return (
        Evidence(
            producer_default_device=default,
            result_of_a_call=True,
            result_of=_branch_or_loop(transfer.facts["producer_result"]),
            called_on=transfer.producer_called_on or None,
        )
        if transfer.src == default != transfer.dst
        else None
    )


def _branch_or_loop(of: object) -> str | None:
    """What returns it, where that is no function that the code calls."""
    return of if isinstance(of, str) else None


def default_producer(transfer: Transfer) -> Evidence | None:
    """The code named the consumer's device but not the producer's, which ran on the default one."""
    if transfer.producer_requested or transfer.fields.get("forward_loc"):
        return None
    if transfer.kind not in ("copy", "arg"):
        return None
    wanted = transfer.requested or (transfer.called_on if transfer.kind == "arg" else "")
    if wanted != transfer.dst or not made_by_code(transfer):
        return None
    if transfer.producer_called_on:
        return None
    default = transfer.context.default(transfer.src)
    if transfer.src != default or default == transfer.dst:
        return None
    return Evidence(
        producer_default_device=default,
        cut_on_host=default if transfer.is_part_of_batch else None,
        of_python_data=transfer.of_python_data or None,
        called_on=None if transfer.requested else transfer.called_on or None,
    )


def severity_of(transfer: Transfer, evidence: Evidence) -> str:
    """A note of what a function returns, of little, of batches, and of what happens seldom."""
    if evidence.result_of_a_call or transfer.tiny or transfer.is_part_of_batch:
        return INFO
    # An evaluation that fetches variables for every batch lacks a scope as much as a training step would,
    # and one that is made again and again as much for what its ops take off their device.
    missed = reads_variable(transfer) or transfer.misses_scope_again
    if transfer.seldom and not (missed and transfer.often and transfer.kind != "arg"):
        return INFO
    back = transfer.of_python_data and is_gpu(transfer.src) and is_host(transfer.dst)  # where it came from
    drawn = transfer.of_drawn_numbers and transfer.every_step
    # What a function is given has to be made somewhere.
    given = transfer.kind == "arg" and not (back or sent_again(transfer) or drawn)
    return INFO if given else WARNING


def with_origin(evidence: Evidence, judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with whose op it is, and the scope that another thread has open."""
    role = "producer_" if judgment.blames == "producer" else ""
    custom = key.fields.get(f"{role}op") in _HANDS_ON and (
        (tables.via(key.fields.get(f"{role}loc")) or "").startswith(_CUSTOM_GRADIENTS)
    )
    evidence = dataclasses.replace(
        evidence,
        scope_apart=tables.site(key.fields.get(f"{role}scope_apart_loc")),
        own_op="a function of custom gradients" if custom else None,
    )
    judgment = dataclasses.replace(judgment, evidence=evidence)
    return with_makers(evidence, judgment, key, tables) if evidence.made_without_context else judgment
