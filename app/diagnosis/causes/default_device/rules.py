"""Ops that nobody placed, so that they ran on the default device."""

from __future__ import annotations

import dataclasses

from app.diagnosis.rules.placements import made_by_code, reads_variable, sent_again
from app.facts.devices import is_gpu, is_host
from app.facts.tables import Tables
from app.facts.transfers.transfer import MadeOnHost, Transfer
from app.judgments.evidence import Known, TransferEvidence
from app.judgments.judgment import Judgment
from app.judgments.severity import INFO, WARNING
from probes.trace.rows import Key


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evidence(TransferEvidence):
    """Of ops on the default device."""

    result_of: Known[str] = None
    """Branch or loop that returns the value."""
    cut_on_host: Known[str] = None
    """Device on which the code cuts a batch for several devices."""
    of_python_data: Known[bool] = None
    scope_apart: Known[str] = None
    """Line of a scope that is open in another thread."""
    from_nothing: Known[str] = None
    """How far an array without a context is only made to be copied."""
    made_without_context: Known[list[str]] = None
    """MXNet's ops that make it."""
    made_at: Known[list[str]] = None
    copied_at: Known[str] = None
    also_unplaced: list[str] | None = None
    """Further lines that work with the same values and have no scope."""


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
    """What a function returns passes the default device: by an Identity of TensorFlow's own, nobody's op.

    And goes on from there, to the op that takes it or to be returned in its turn. It may be the result of a
    function that the code calls, or of a branch or loop, which is none to the code.
    """
    result, by_producer = transfer.own_fact("result"), transfer.blames == "producer"
    default = transfer.producer_default if by_producer else transfer.default
    if not result or transfer.own("requested") or transfer.src == transfer.dst or transfer.here != default:
        return None
    if not by_producer and transfer.text("assigned") != default:
        return None
    return Evidence(
        default_device=None if by_producer else default,
        producer_default_device=default if by_producer else None,
        called_on=(transfer.producer_called_on if by_producer else transfer.called_on) or None,
        result_of_a_call=True,
        result_of=result if isinstance(result, str) else None,
    )


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
    judgment = judgment.knowing(
        scope_apart=tables.site(key.fields.get(f"{role}scope_apart_loc")),
        own_op="a function of custom gradients" if custom else None,
    )
    if not evidence.made_without_context:
        return judgment
    # Such an array's copy is told at the line that makes it, or the first of what it is made of.
    sites = [site for loc in key.fields.get("from_nothing_locs") or () if (site := tables.site(loc))]
    judgment = dataclasses.replace(judgment, at=sites[0] if sites else None)
    return judgment.knowing(made_at=list(dict.fromkeys(sites)), copied_at=tables.site(key.fields.get("loc")))


_COPIED_BY = frozenset({"as_in_context", "as_in_ctx", "copyto", "slice assignment"})
"""Calls of the code's own that copy one array; what cuts a batch for several devices is none."""
_TO_BE_SENT, _ONLY_COPIED = "to be sent", "only copied"
_NOT_RUN = MadeOnHost(0)


def made_without_context(transfer: Transfer) -> Evidence | None:
    """Nobody named a context for what is made anew each step, and only to be used on another device.

    Data that is prepared on the host is none of it, nor what was made once, or has another use there.
    """
    why, ops = transfer.text("from_nothing"), transfer.fields.get("from_nothing_ops") or ()
    makers = [*zip(ops, transfer.fields.get("from_nothing_locs") or (), strict=False)]
    call = transfer.facts.get("copy_call")
    if not why or not makers or call not in _COPIED_BY or transfer.tiny or not transfer.every_step:
        return None
    if not is_host(transfer.src) or is_host(transfer.dst):
        return None
    known = transfer.context.made_on_host
    made = [known.get(maker, _NOT_RUN) for maker in makers]
    if any("sent" in one.kept or ("used" in one.kept and why != _TO_BE_SENT) for one in made):
        return None
    # Each array that the statement makes goes to one place, and none has another use.
    if why == _ONLY_COPIED and any("worked on" in one.kept or one.times != one.sent for one in made):
        return None
    # A helper that at times is handed something else runs its ops more often than these are made.
    ran = known.get((transfer.producer_op, transfer.fields.get("producer_loc") or 0), _NOT_RUN)
    if min(one.times for one in made) < max(ran.times, transfer.count or 0):
        return None
    return Evidence(from_nothing=why, made_without_context=list(dict.fromkeys(ops)), call=str(call))
