"""Why a transfer happened: a code with its evidence, or `unknown`; a wrong cause is worse than none.

Each rule is a small function from a transfer's recorded facts to its evidence, None where the facts don't
decide. The first rule that decides wins, so what is more particular stands first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from app.diagnosis.causes.collective import cause as collective
from app.diagnosis.causes.colocation import cause as colocation
from app.diagnosis.causes.default_device import rules as default_device
from app.diagnosis.causes.explicit import cause as explicit
from app.diagnosis.causes.gradient_outside_scope import cause as gradient_outside_scope
from app.diagnosis.causes.host_memory import cause as host_memory
from app.diagnosis.causes.host_sync import cause as host_sync
from app.diagnosis.causes.host_upload import cause as host_upload
from app.diagnosis.causes.missing_device import cause as missing_device
from app.diagnosis.causes.no_kernel import cause as no_kernel
from app.diagnosis.causes.reduce_on_host import cause as reduce_on_host
from app.diagnosis.causes.redundant_copy import cause as redundant_copy
from app.diagnosis.causes.unknown import cause as unknown
from app.diagnosis.causes.variable_home import rules as variable_home
from app.diagnosis.registry import BY_CODE
from app.facts.tables import Tables
from app.facts.transfers import hops as transfers
from app.facts.transfers.hops import Hop
from app.facts.transfers.transfer import Context, Transfer
from app.judgments.evidence import TransferEvidence
from app.judgments.finding import Finding
from app.judgments.judgment import Judgment
from probes.trace.rows import Key

Rule = Callable[[Transfer], TransferEvidence | None]

RULES: tuple[tuple[str, str, Rule], ...] = (
    ("reduce-on-host", "consumer", reduce_on_host.reduce_on_host),
    ("collective", "consumer", collective.collective),
    ("host-sync", "consumer", host_sync.host_read),
    ("variable-home", "consumer", variable_home.variable_copied),
    ("redundant-copy", "consumer", redundant_copy.redundant_copy),
    ("default-device", "producer", default_device.made_without_context),
    ("explicit", "consumer", explicit.called_copy),
    ("host-upload", "consumer", host_upload.host_upload),
    ("no-kernel", "consumer", no_kernel.no_kernel),
    ("no-kernel", "producer", no_kernel.no_kernel),
    ("missing-device", "consumer", missing_device.missing_device),
    ("missing-device", "producer", missing_device.missing_device),
    ("host-memory", "consumer", host_memory.host_memory),
    ("host-memory", "consumer", host_memory.handed_over_on_host),
    ("host-memory", "consumer", host_memory.preferred_on_host),
    ("host-memory", "producer", host_memory.preferred_on_host),
    ("gradient-outside-scope", "consumer", gradient_outside_scope.made_for_gradient),
    ("gradient-outside-scope", "producer", gradient_outside_scope.made_by_gradient),
    ("gradient-outside-scope", "consumer", gradient_outside_scope.asked_elsewhere),
    ("colocation", "consumer", colocation.colocation),
    ("colocation", "consumer", colocation.works_at_home),
    ("colocation", "producer", colocation.made_beside_iterator),
    ("colocation", "producer", colocation.made_beside),
    ("no-kernel", "consumer", no_kernel.on_host_as_asked),
    ("no-kernel", "producer", no_kernel.on_host_as_asked),
    ("default-device", "consumer", default_device.default_placed),
    ("variable-home", "consumer", variable_home.variable_read),
    ("default-device", "consumer", default_device.result_by_default),
    ("explicit", "consumer", explicit.takes_a_result),
    ("default-device", "producer", default_device.default_producer),
    ("explicit", "consumer", explicit.explicit),
    ("explicit", "consumer", explicit.called_elsewhere),
    ("default-device", "producer", default_device.result_by_default),
    ("colocation", "consumer", colocation.works_away_from_default),
    ("colocation", "producer", colocation.made_at_home),
    ("host-memory", "consumer", host_memory.taken_on_host_by_gpus),
)
"""(code, whose line is to be changed, rule), the particular before the general."""


def hop_table(tables: Tables) -> list[Hop]:
    """The rows as `app.facts.transfers.hops.hop_table` makes them, judged by the rules."""
    return transfers.hop_table(tables, judged)


def told_hops(hops: Sequence[Hop], findings: Iterable[Finding]) -> list[Hop]:
    """The hop table, each row with the finding that has it; of several the one that stands first."""
    told: dict[int, tuple[str, str]] = {}
    for finding in findings:
        for row in finding.rows:
            told.setdefault(row, (finding.code, finding.severity))
    return [dataclasses.replace(hop, told=told[row]) if row in told else hop for row, hop in enumerate(hops)]


def judged(
    fields: dict[str, Any], context: Context, count: int | None, each: float | None, key: Key, tables: Tables
) -> Judgment:
    """The cause with the lines that belong to it."""
    judgment = _with_scopes(judge(fields, context, count, each, tables.comes_again(key)), key, tables)
    return BY_CODE[judgment.code].with_lines(judgment.evidence, judgment, key, tables)


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
    ends = {"consumer": transfer, "producer": dataclasses.replace(transfer, blames="producer")}
    for code, blames, rule in RULES:
        evidence = rule(ends[blames])
        if evidence is not None:
            severity = BY_CODE[code].severity_of(transfer, evidence) or BY_CODE[code].severity
            return Judgment(code, severity, _placed(evidence, transfer), blames)
    code = unknown.CAUSE.code
    return Judgment(code, unknown.CAUSE.severity, _placed(unknown.what_is_known(transfer), transfer))


def _with_scopes(judgment: Judgment, key: Key, tables: Tables) -> Judgment:
    """The judgment with the lines that opened the device scopes of both ends, where they are known."""
    fields, scopes = key.fields, dict[str, Any]()
    for role, device in (("", "dst"), ("producer_", "src")):
        op = tuple(fields.get(name) for name in (f"{role}op", f"{role}loc", device, f"{role}requested"))
        scopes[f"{role}scope"] = tables.site(
            fields.get(f"{role}scope_loc") or (op[-1] and tables.scopes.get(op))
        )
    return judgment.knowing(**scopes)


def _placed(evidence: TransferEvidence, transfer: Transfer) -> TransferEvidence:
    return dataclasses.replace(
        evidence,
        requested=transfer.requested,
        assigned=transfer.text("assigned"),
        producer_requested=transfer.producer_requested,
        src=transfer.src,
        dst=transfer.dst,
        scope_opener=transfer.facts.get("scope_opener") or None,
        producer_scope_opener=transfer.facts.get("producer_scope_opener") or None,
    )
