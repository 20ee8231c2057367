"""Ops that nobody placed, so that they ran on the default device."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.diagnosis.causes.default_device.contextless_copies import with_makers
from app.diagnosis.rules.placements import called_in_scope, made_by_code, variable_home
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


def default_placed(transfer: Transfer) -> dict[str, Any] | None:
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
    if is_host(transfer.src) and is_gpu(transfer.dst) and variable_home(transfer) is not None:
        return None  # a GPU is where it should run: it is the variable that is elsewhere
    at_home = transfer.dst == transfer.default == transfer.text("assigned")
    return {"default_device": transfer.default} if at_home and transfer.src != transfer.dst else None


def result_by_default(transfer: Transfer) -> dict[str, Any] | None:
    """What a function returns passes the default device: by an Identity of TensorFlow's own, nobody's op."""
    if not transfer.facts.get("result") or transfer.requested:
        return None
    at_home = transfer.dst == transfer.default == transfer.text("assigned") and transfer.src != transfer.dst
    found = {"default_device": transfer.default} | _result(transfer.facts["result"])
    return found | called_in_scope(transfer.called_on) if at_home else None


def result_handed_on(transfer: Transfer) -> dict[str, Any] | None:
    """And goes on from there, to the op that takes it or to be returned in its turn."""
    if not transfer.facts.get("producer_result") or transfer.producer_requested:
        return None
    default = transfer.producer_default
    at_home = transfer.src == default != transfer.dst
    found = {"producer_default_device": default} | _result(transfer.facts["producer_result"])
    return found | called_in_scope(transfer.producer_called_on) if at_home else None


def _result(of: object) -> dict[str, Any]:
    """Of a function that the code calls, or of a branch or loop, which is none to the code."""
    return {"result_of_a_call": True} | ({"result_of": str(of)} if isinstance(of, str) else {})


def default_producer(transfer: Transfer) -> dict[str, Any] | None:
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
    cut: dict[str, Any] = {"cut_on_host": default} if transfer.is_part_of_batch else {}
    if transfer.of_python_data:
        cut["of_python_data"] = True
    return (
        {"producer_default_device": default}
        | cut
        | ({} if transfer.requested else called_in_scope(transfer.called_on))
    )


def severity_of(transfer: Transfer, evidence: Mapping[str, Any]) -> str:
    """A note of what a function returns, of little, of batches, and of what happens seldom."""
    if evidence.get("result_of_a_call") or transfer.tiny or transfer.is_part_of_batch:
        return INFO
    # An evaluation that fetches variables for every batch lacks a scope as much as a training step would,
    # and one that is made again and again as much for what its ops take off their device.
    missed = variable_home(transfer) is not None or transfer.misses_scope_again
    if transfer.seldom and not (missed and transfer.often and transfer.kind != "arg"):
        return INFO
    back = transfer.of_python_data and is_gpu(transfer.src) and is_host(transfer.dst)  # where it came from
    drawn = transfer.of_drawn_numbers and transfer.every_step
    # What a function is given has to be made somewhere.
    given = transfer.kind == "arg" and not (back or sent_again(transfer) or drawn)
    return INFO if given else WARNING


def with_origin(judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with whose op it is, and the scope that another thread has open."""
    role = "producer_" if judgment.blames == "producer" else ""
    apart = key.fields.get(f"{role}scope_apart_loc")
    more = {"scope_apart": site} if apart and (site := tables.site(apart)) else {}
    if key.fields.get(f"{role}op") in _HANDS_ON:
        via = tables.via(key.fields.get(f"{role}loc")) or ""
        more |= {"own_op": "a function of custom gradients"} if via.startswith(_CUSTOM_GRADIENTS) else {}
    judgment = dataclasses.replace(judgment, evidence=judgment.evidence | more)
    return with_makers(judgment, key, tables) if "made_without_context" in judgment.evidence else judgment
