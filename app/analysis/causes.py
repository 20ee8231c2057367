"""Why a transfer happened: a code with its evidence, or `unknown`; a wrong cause is worse than none.

Each rule (app/analysis/rules/) is a small function from a transfer's recorded facts to its evidence, None
where the facts don't decide. The first rule that decides wins, so what is more particular stands first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from app.analysis.devices import is_gpu, is_host
from app.analysis.rules import copies, gradients, nothing, placed, reductions
from app.analysis.severity import SEVERITY
from app.analysis.transfer import Context, Transfer
from probes.trace.hop import LIBRARYS_OWN

Evidence = dict[str, Any]
Rule = Callable[[Transfer], Evidence | None]

RULES: tuple[tuple[str, str, Rule], ...] = (
    ("reduce-on-host", "consumer", reductions.reduce_on_host),
    ("collective", "consumer", reductions.collective),
    ("host-sync", "consumer", copies.host_sync),
    ("variable-home", "consumer", copies.variable_copied),
    ("redundant-copy", "consumer", copies.redundant_copy),
    ("default-device", "producer", nothing.made_without_context),
    ("explicit", "consumer", copies.called_copy),
    ("host-upload", "consumer", copies.host_upload),
    ("no-kernel", "consumer", placed.no_kernel),
    ("no-kernel", "producer", placed.made_without_kernel),
    ("missing-device", "consumer", placed.missing_device),
    ("missing-device", "producer", placed.made_on_missing_device),
    ("host-memory", "consumer", placed.host_memory),
    ("host-memory", "consumer", placed.handed_over_on_host),
    ("host-memory", "consumer", placed.preferred_on_host),
    ("host-memory", "producer", placed.made_rather_on_host),
    ("gradient-outside-scope", "consumer", gradients.made_for_gradient),
    ("gradient-outside-scope", "producer", gradients.made_by_gradient),
    ("gradient-outside-scope", "consumer", gradients.asked_elsewhere),
    ("colocation", "consumer", placed.colocation),
    ("colocation", "consumer", placed.works_at_home),
    ("colocation", "producer", placed.made_beside_iterator),
    ("colocation", "producer", placed.made_beside),
    ("no-kernel", "consumer", placed.on_host_as_asked),
    ("no-kernel", "producer", placed.made_on_host_as_asked),
    ("default-device", "consumer", placed.default_placed),
    ("variable-home", "consumer", placed.variable_home),
    ("default-device", "consumer", placed.result_by_default),
    ("explicit", "consumer", placed.takes_a_result),
    ("default-device", "producer", placed.default_producer),
    ("explicit", "consumer", placed.explicit),
    ("explicit", "consumer", placed.called_elsewhere),
    ("default-device", "producer", placed.result_handed_on),
    ("colocation", "consumer", placed.works_away_from_default),
    ("colocation", "producer", placed.made_at_home),
    ("host-memory", "consumer", placed.taken_on_host_by_gpus),
)
"""(code, whose line is to be changed, rule), the particular before the general."""


@dataclasses.dataclass(frozen=True)
class Cause:
    """Why something happened, how bad that is, and what it was judged by."""

    code: str
    severity: str
    evidence: Evidence
    blames: str = "consumer"
    """Whose line is to be changed: consumer or producer."""
    at: str | None = None
    """That line, where it is neither the consumer's nor the producer's own."""


def judge(
    fields: Mapping[str, Any],
    context: Context,
    count: int | None = None,
    each: float | None = None,
    again: bool = False,
) -> Cause:
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
            return Cause(code, severity, _placed(transfer) | evidence, blames)
    return Cause("unknown", SEVERITY["unknown"], _placed(transfer) | _what_is_known(transfer))


def severity_of(code: str, transfer: Transfer) -> str:
    """The code's severity, unless the facts say otherwise."""
    if code == "host-upload":
        return "warning" if transfer.facts.get("stalls") else "info"
    if code == "host-sync":
        own = transfer.facts.get("sync") in LIBRARYS_OWN or copies.on_host_on_gpus(transfer)
        return "warning" if transfer.every_step and not own else "info"
    if code == "variable-home":
        recurs = transfer.every_step or (transfer.often and transfer.kind != "arg")
        return "warning" if recurs and not transfer.tiny else "info"
    if code == "default-device" and (transfer.tiny or transfer.is_part_of_batch):
        return "info"
    # An evaluation that fetches variables for every batch lacks a scope as much as a training step would,
    # and one that is made again and again as much for what its ops take off their device.
    missed = placed.variable_home(transfer) is not None or transfer.misses_scope_again
    missed = missed and transfer.often and transfer.kind != "arg"
    if code == "default-device" and transfer.seldom and not missed:
        return "info"
    back = transfer.of_python_data and is_gpu(transfer.src) and is_host(transfer.dst)  # where it came from
    wanted_there = back or copies.sent_again(transfer) or (transfer.of_drawn_numbers and transfer.every_step)
    if code == "default-device" and transfer.kind == "arg" and not wanted_there:
        return "info"  # what a function is given has to be made somewhere
    if code in ("redundant-copy", "no-kernel") and transfer.seldom:
        return "info"
    if code == "redundant-copy" and transfer.tiny and copies.copied_again(transfer):
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
