"""Why a transfer happened: a code with its evidence, or `unknown`; a wrong cause is worse than none.

Each rule (app/diagnosis/rules/) is a small function from a transfer's recorded facts to its evidence, None
where the facts don't decide. The first rule that decides wins, so what is more particular stands first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from app.diagnosis.registry import SEVERITY
from app.diagnosis.rules import backward_ops, contextless_copies, op_placement, reductions, requested_copies
from app.facts.devices import is_gpu, is_host
from app.facts.transfers.transfer import Context, Transfer
from app.judgments.judgment import Judgment
from probes.trace.hop import LIBRARYS_OWN

Evidence = dict[str, Any]
Rule = Callable[[Transfer], Evidence | None]

RULES: tuple[tuple[str, str, Rule], ...] = (
    ("reduce-on-host", "consumer", reductions.reduce_on_host),
    ("collective", "consumer", reductions.collective),
    ("host-sync", "consumer", requested_copies.host_sync),
    ("variable-home", "consumer", requested_copies.variable_copied),
    ("redundant-copy", "consumer", requested_copies.redundant_copy),
    ("default-device", "producer", contextless_copies.made_without_context),
    ("explicit", "consumer", requested_copies.called_copy),
    ("host-upload", "consumer", requested_copies.host_upload),
    ("no-kernel", "consumer", op_placement.no_kernel),
    ("no-kernel", "producer", op_placement.made_without_kernel),
    ("missing-device", "consumer", op_placement.missing_device),
    ("missing-device", "producer", op_placement.made_on_missing_device),
    ("host-memory", "consumer", op_placement.host_memory),
    ("host-memory", "consumer", op_placement.handed_over_on_host),
    ("host-memory", "consumer", op_placement.preferred_on_host),
    ("host-memory", "producer", op_placement.made_rather_on_host),
    ("gradient-outside-scope", "consumer", backward_ops.made_for_gradient),
    ("gradient-outside-scope", "producer", backward_ops.made_by_gradient),
    ("gradient-outside-scope", "consumer", backward_ops.asked_elsewhere),
    ("colocation", "consumer", op_placement.colocation),
    ("colocation", "consumer", op_placement.works_at_home),
    ("colocation", "producer", op_placement.made_beside_iterator),
    ("colocation", "producer", op_placement.made_beside),
    ("no-kernel", "consumer", op_placement.on_host_as_asked),
    ("no-kernel", "producer", op_placement.made_on_host_as_asked),
    ("default-device", "consumer", op_placement.default_placed),
    ("variable-home", "consumer", op_placement.variable_home),
    ("default-device", "consumer", op_placement.result_by_default),
    ("explicit", "consumer", op_placement.takes_a_result),
    ("default-device", "producer", op_placement.default_producer),
    ("explicit", "consumer", op_placement.explicit),
    ("explicit", "consumer", op_placement.called_elsewhere),
    ("default-device", "producer", op_placement.result_handed_on),
    ("colocation", "consumer", op_placement.works_away_from_default),
    ("colocation", "producer", op_placement.made_at_home),
    ("host-memory", "consumer", op_placement.taken_on_host_by_gpus),
)
"""(code, whose line is to be changed, rule), the particular before the general."""


def judge(
    fields: Mapping[str, Any],
    context: Context,
    count: int | None = None,
    each: float | None = None,
    again: bool = False,
) -> Judgment:
    """The cause of one transfer, from its hop key's fields; `count` is its executions in the run.

    `each` is how often it happens in every step, 0 for less; None where only the count tells. `again` says
    that it comes many times at once, again and again between steps.
    """
    transfer = Transfer(fields, context, count, each, again)
    for code, blames, rule in RULES:
        evidence = rule(transfer)
        if evidence is not None:
            noted = evidence.get("result_of_a_call") or evidence.get("on_host_as_asked")
            severity = "info" if noted else severity_of(code, transfer)
            return Judgment(code, severity, _placed(transfer) | evidence, blames)
    return Judgment("unknown", SEVERITY["unknown"], _placed(transfer) | _what_is_known(transfer))


def severity_of(code: str, transfer: Transfer) -> str:
    """The code's severity, unless the facts say otherwise."""
    if code == "host-upload":
        return "warning" if transfer.facts.get("stalls") else "info"
    if code == "host-sync":
        own = transfer.facts.get("sync") in LIBRARYS_OWN or requested_copies.on_host_on_gpus(transfer)
        return "warning" if transfer.every_step and not own else "info"
    if code == "variable-home":
        recurs = transfer.every_step or (transfer.often and transfer.kind != "arg")
        return "warning" if recurs and not transfer.tiny else "info"
    if code == "default-device" and (transfer.tiny or transfer.is_part_of_batch):
        return "info"
    # An evaluation that fetches variables for every batch lacks a scope as much as a training step would,
    # and one that is made again and again as much for what its ops take off their device.
    missed = op_placement.variable_home(transfer) is not None or transfer.misses_scope_again
    missed = missed and transfer.often and transfer.kind != "arg"
    if code == "default-device" and transfer.seldom and not missed:
        return "info"
    back = transfer.of_python_data and is_gpu(transfer.src) and is_host(transfer.dst)  # where it came from
    wanted_there = (
        back or requested_copies.sent_again(transfer) or (transfer.of_drawn_numbers and transfer.every_step)
    )
    if code == "default-device" and transfer.kind == "arg" and not wanted_there:
        return "info"  # what a function is given has to be made somewhere
    if code in ("redundant-copy", "no-kernel") and transfer.seldom:
        return "info"
    if code == "redundant-copy" and transfer.tiny and requested_copies.copied_again(transfer):
        return "info"
    return SEVERITY[code]


_OPENERS = ("scope_opener", "producer_scope_opener")


def _placed(transfer: Transfer) -> Evidence:
    return {
        "requested": transfer.requested,
        "assigned": transfer.text("assigned"),
        "producer_requested": transfer.producer_requested,
        "src": transfer.src,
        "dst": transfer.dst,
    } | {name: transfer.facts[name] for name in _OPENERS if transfer.facts.get(name)}


_NOT_TOLD = frozenset({"input_slots"})


def _what_is_known(transfer: Transfer) -> Evidence:
    known = {
        key: value
        for key, value in transfer.facts.items()
        if value not in ("", None) and key not in _NOT_TOLD
    }
    if transfer.kind == "arg":
        known["argument_made_by"] = transfer.text("producer_op")
    return known
